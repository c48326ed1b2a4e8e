package basemodel_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAModelIsInstalledFromAFolder(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	from, err := basemodel.OpenFolder(folder(t, with(bert(1), map[string][]byte{"1_Pooling/config.json": []byte("{}"), "code.py": []byte("x")})))
	require.NoError(t, err)
	defer func() { require.NoError(t, from.Close()) }()
	m, err := install(t, s, from, basemodel.Options{Name: tiny})
	require.NoError(t, err)
	require.Equal(t, "mit", m.License, "from the card")
	require.Equal(t, basemodel.SourceFolder, m.Source)
	require.Len(t, m.Files, 4)
	require.NoFileExists(t, filepath.Join(dir, tiny, "code.py"))

	p, err := s.Plan(t.Context(), from, basemodel.Options{Name: tiny})
	require.NoError(t, err)
	require.True(t, p.Done, "the same folder is not copied again")
}

func TestAFolderThatLeadsElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	for _, name := range []string{"vocab.txt", "model.safetensors", "config.json"} {
		dir := folder(t, with(bert(1), map[string][]byte{name: nil}))
		require.NoError(t, os.Symlink(secret, filepath.Join(dir, name)))
		s, _ := store(t)
		from, err := basemodel.OpenFolder(dir)
		require.NoError(t, err)
		_, err = install(t, s, from, basemodel.Options{Name: tiny})
		require.ErrorContains(t, err, name+" is a link, which is not followed. Copy the folder with cp -L first.")
		require.NoError(t, from.Close())
	}
	_, err := basemodel.OpenFolder(filepath.Join(t.TempDir(), "nothing"))
	require.ErrorContains(t, err, "The folder cannot be read")
}

func TestAModelIsInstalledFromAZIPFile(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"at its root": "", "in a folder": "model/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string][]byte{prefix + "1_Pooling/config.json": []byte("{}")}
			for file, content := range bert(1) {
				files[prefix+file] = content
			}
			a, err := basemodel.OpenArchive(archive(t, files))
			require.NoError(t, err)
			defer func() { require.NoError(t, a.Close()) }()
			require.Len(t, a.Models(), 1)
			s, dir := store(t)
			_, err = install(t, s, a.Models()[0], basemodel.Options{})
			require.ErrorContains(t, err, "--name owner/name")
			m, err := install(t, s, a.Models()[0], basemodel.Options{Name: tiny})
			require.NoError(t, err)
			require.Equal(t, basemodel.SourceZIP, m.Source)
			require.Equal(t, bert(1)["model.safetensors"], contents(t, filepath.Join(dir, tiny))["model.safetensors"])
		})
	}
}

func TestABundleCarriesSeveralModelsToAnotherMachine(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	for i, id := range []string{tiny, "microsoft/resnet-18"} {
		_, err := install(t, s, source(id, "c1", bert(byte(i))), basemodel.Options{})
		require.NoError(t, err)
	}
	var first, second bytes.Buffer
	require.NoError(t, s.Bundle(t.Context(), &first, []string{"microsoft/resnet-18", tiny, tiny}))
	require.NoError(t, s.Bundle(t.Context(), &second, []string{tiny, "microsoft/resnet-18"}))
	require.Equal(t, first.Bytes(), second.Bytes())
	require.ErrorContains(t, s.Bundle(t.Context(), &second, []string{"a/missing"}), "The model a/missing is not installed.")

	name := filepath.Join(t.TempDir(), "models.zip")
	require.NoError(t, os.WriteFile(name, first.Bytes(), 0o600))
	a, err := basemodel.OpenArchive(name)
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	require.Len(t, a.Models(), 2)
	other, otherDir := store(t)
	for _, from := range a.Models() {
		p, err := s.Plan(t.Context(), from, basemodel.Options{})
		require.NoError(t, err)
		require.True(t, p.Done, "it is installed on the first machine")
		m, err := install(t, other, from, basemodel.Options{})
		require.NoError(t, err)
		require.Equal(t, "c1", m.Commit)
		require.Equal(t, basemodel.SourceHub, m.Source, "a bundle is only the way")
		want, got := contents(t, filepath.Join(dir, m.ID)), contents(t, filepath.Join(otherDir, m.ID))
		delete(want, basemodel.ModelFile)
		delete(got, basemodel.ModelFile)
		require.Equal(t, want, got)
	}

	require.NoError(t, os.WriteFile(filepath.Join(dir, tiny, "vocab.txt"), []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nWORD\n"), 0o600))
	require.ErrorContains(t, s.Bundle(t.Context(), &second, []string{tiny}), "vocab.txt of "+tiny+" is not the file that was installed. Install the model again.")
}

func TestAHostileZIPFileIsRefused(t *testing.T) {
	t.Parallel()
	bundled := map[string][]byte{}
	for file, content := range bert(1) {
		bundled["a/b/"+file] = content
	}
	for name, tc := range map[string]struct {
		file string
		want string
	}{
		"a file outside":      {archive(t, with(bert(1), map[string][]byte{"../../etc/passwd": []byte("x")})), `invalid name "../../etc/passwd"`},
		"an absolute name":    {archive(t, with(bert(1), map[string][]byte{"/etc/passwd": []byte("x")})), `invalid name "/etc/passwd"`},
		"a name of Windows":   {archive(t, with(bert(1), map[string][]byte{`..\x`: []byte("x")})), "invalid name"},
		"no model":            {archive(t, map[string][]byte{"a.txt": []byte("x"), "b/config.json": []byte("{}")}), "no folder with config.json and weights"},
		"no ZIP file":         {filepath.Join(folder(t, map[string][]byte{"x.zip": []byte("PK nonsense")}), "x.zip"), "not a ZIP file that can be read"},
		"a file twice":        {doubled(t), `two files with the name "config.json"`},
		"too many files":      {crowded(t, 20_001, 1), "more than 20,000 files"},
		"a list without end":  {crowded(t, 600, 60_000), "more than 16 MiB"},
		"nothing of the name": {filepath.Join(t.TempDir(), "x.zip"), "The ZIP file cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := basemodel.OpenArchive(tc.file)
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
	for name, doc := range map[string]string{
		"a description that is none":       "nonsense",
		"a description of other files":     `{"schema":1,"id":"a/b","files":[{"path":"x","size":1,"sha256":"` + strings.Repeat("0", 64) + `"}]}`,
		"a description that leads outside": `{"schema":1,"id":"a/b","files":[{"path":"../x","size":1,"sha256":"` + strings.Repeat("0", 64) + `"}]}`,
		"a name that leads outside":        `{"schema":1,"id":"../b","files":[{"path":"x","size":1,"sha256":"` + strings.Repeat("0", 64) + `"}]}`,
		"a schema of tomorrow":             `{"schema":9,"id":"a/b"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := basemodel.OpenArchive(archive(t, with(bundled, map[string][]byte{"a/b/model.json": []byte(doc)})))
			require.NoError(t, err)
			s, _ := store(t)
			_, err = s.Plan(t.Context(), a.Models()[0], basemodel.Options{})
			require.Error(t, err)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NoError(t, a.Close())
		})
	}
}

func TestABundleWithAChangedFileIsRefused(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	_, err := install(t, s, source(tiny, "c1", bert(1)), basemodel.Options{})
	require.NoError(t, err)
	files := map[string][]byte{}
	for name, content := range contents(t, filepath.Join(dir, tiny)) {
		if name == "model.safetensors" {
			content[len(content)-1] ^= 1
		}
		files[tiny+"/"+name] = content
	}
	a, err := basemodel.OpenArchive(archive(t, files))
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	other, _ := store(t)
	_, err = install(t, other, a.Models()[0], basemodel.Options{})
	require.EqualError(t, err, "model.safetensors is not what model.json says it is (sha256 differs), twice. Nothing was installed. Try again, or try another mirror.")
}

// doubled writes a ZIP file with two files of one name.
func doubled(t *testing.T) string {
	t.Helper()
	return zipOf(t, func(w *zip.Writer) {
		for range 2 {
			_, err := w.Create("config.json")
			require.NoError(t, err)
		}
	})
}

// crowded writes a ZIP file with so many empty files, each with a name of this length.
func crowded(t *testing.T, files, length int) string {
	t.Helper()
	return zipOf(t, func(w *zip.Writer) {
		for range files {
			_, err := w.Create(strings.Repeat("x", length))
			require.NoError(t, err)
		}
	})
}

func zipOf(t *testing.T, fill func(*zip.Writer)) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.zip")
	f, err := os.Create(name)
	require.NoError(t, err)
	w := zip.NewWriter(f)
	fill(w)
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return name
}
