package basemodel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel"
)

func TestEveryChangeOfAnInstalledModelIsFound(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(t *testing.T, dir string){
		"model.safetensors is not the file that was installed.": func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), bert(9)["model.safetensors"], 0o600))
		},
		"vocab.txt is missing.": func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(dir, "vocab.txt")))
		},
		"config.json is not the file that was installed.": func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(dir, "config.json")))
			require.NoError(t, os.Symlink("vocab.txt", filepath.Join(dir, "config.json")))
		},
		"modeling_x.py was added later.": func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "modeling_x.py"), nil, 0o600))
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s, dir := store(t)
			_, err := install(t, s, source(tiny, "c1", bert(1)), basemodel.Options{})
			require.NoError(t, err)
			change(t, filepath.Join(dir, tiny))
			faults, err := s.Verify(t.Context(), tiny)
			require.NoError(t, err)
			require.Equal(t, []string{want}, faults)
		})
	}
}

func TestARemovedModelLeavesNothing(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	for _, id := range []string{tiny, "prajjwal1/bert-tinier"} {
		_, err := install(t, s, source(id, "c1", bert(1)), basemodel.Options{})
		require.NoError(t, err)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".part", "prajjwal1--bert-tiny@abc"), 0o700))
	require.NoError(t, s.Remove(t.Context(), tiny))
	require.NoDirExists(t, filepath.Join(dir, tiny))
	require.NoDirExists(t, filepath.Join(dir, ".part", "prajjwal1--bert-tiny@abc"))
	require.DirExists(t, filepath.Join(dir, "prajjwal1/bert-tinier"))
	require.EqualError(t, s.Remove(t.Context(), tiny), "The model prajjwal1/bert-tiny is not installed. extractor models installed lists those that are.")
	require.NoError(t, s.Remove(t.Context(), "prajjwal1/bert-tinier"))
	require.NoDirExists(t, filepath.Join(dir, "prajjwal1"))
	require.ErrorContains(t, s.Remove(t.Context(), "../registry"), "cannot be the name of a model")
	require.ErrorContains(t, s.Remove(t.Context(), ".part/x"), "cannot be the name of a model")
}

func TestAModelThatWasCopiedByHandIsListedAndNotVerified(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	all, err := s.List()
	require.NoError(t, err)
	require.Empty(t, all, "a folder that does not exist holds no models")
	for name, content := range bert(1) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, tiny), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, tiny, name), content, 0o600))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "empty", "folder"), 0o700))
	all, err = s.List()
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, tiny, all[0].ID)
	require.ErrorIs(t, all[0].Fault, os.ErrNotExist)
	_, err = s.Verify(t.Context(), tiny)
	require.ErrorContains(t, err, "has no model.json: it was copied by hand.")

	require.NoError(t, os.WriteFile(filepath.Join(dir, tiny, "model.json"), []byte("{"), 0o600))
	_, err = s.Verify(t.Context(), tiny)
	require.ErrorContains(t, err, "The description of "+tiny+" cannot be read")
	_, err = install(t, s, source(tiny, "c1", bert(2)), basemodel.Options{})
	require.NoError(t, err, "an installation replaces it")
	faults, err := s.Verify(t.Context(), tiny)
	require.NoError(t, err)
	require.Empty(t, faults)
}

func TestALinkInThePlaceOfAModelIsNotReplaced(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	elsewhere := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "prajjwal1"), 0o700))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, tiny)))
	_, err := install(t, s, source(tiny, "c1", bert(1)), basemodel.Options{})
	require.ErrorContains(t, err, "is a link or a file. Remove it first.")
	require.Empty(t, contents(t, elsewhere))
}

func FuzzDecodeModel(f *testing.F) {
	f.Add([]byte(`{"schema":1,"id":"a/b","kind":"text","files":[{"path":"x","size":1,"sha256":"0000000000000000000000000000000000000000000000000000000000000000"}]}`))
	f.Add([]byte(`{"schema":1,"id":"../b"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		m, err := basemodel.DecodeModel(doc)
		if err != nil {
			return
		}
		require.NoError(t, basemodel.CheckID(m.ID))
		again, err := json.Marshal(m)
		require.NoError(t, err)
		_, err = basemodel.DecodeModel(again)
		require.NoError(t, err)
	})
}
