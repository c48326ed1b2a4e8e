package basemodel_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAnInstalledModelIsCompleteAndSaysWhereItComesFrom(t *testing.T) {
	t.Parallel()
	files := with(bert(1), map[string][]byte{
		"modeling_x.py": []byte("import os"), "onnx/model.onnx": []byte("x"), "pytorch_model.bin": []byte("pickle"), "tf_model.h5": []byte("x"),
		"tokenizer_config.json": []byte("{}"), "LICENSE": []byte("MIT License"), ".gitattributes": []byte("x"), "model.fp16.safetensors": []byte("x"),
	})
	s, dir := store(t)
	m, err := install(t, s, source(tiny, "c1", files), basemodel.Options{Default: true})
	require.NoError(t, err)
	require.Equal(t, basemodel.KindText, m.Kind)
	require.True(t, m.Default)
	place := filepath.Join(dir, tiny)
	names := make([]string, 0, len(m.Files))
	for _, f := range m.Files {
		names = append(names, f.Path)
		info, err := os.Stat(filepath.Join(place, f.Path))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), info.Mode())
	}
	require.Equal(t, []string{"LICENSE", "README.md", "config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"}, names)
	info, err := os.Stat(place)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())

	all, err := s.List()
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, m, *all[0].Model)
	require.Equal(t, "c1", m.Commit)
	require.Equal(t, "mit", m.License)
	require.Equal(t, "https://hub.example.org", m.Endpoint)
	faults, err := s.Verify(t.Context(), tiny)
	require.NoError(t, err)
	require.Empty(t, faults)
}

func TestWhatCannotBeInstalledIsRefusedBeforeItIsLoaded(t *testing.T) {
	t.Parallel()
	unnamed := source("", "c1", bert(1))
	unlicensed := source(tiny, "c1", with(bert(1), map[string][]byte{"README.md": nil}))
	unlicensed.offer.License = ""
	huge := source(tiny, "c1", bert(1))
	for i := range huge.offer.Files {
		if huge.offer.Files[i].Path == "model.safetensors" {
			huge.offer.Files[i].Size = 1 << 60
		}
	}
	twice := source(tiny, "c1", bert(1))
	twice.offer.Files = append(twice.offer.Files, twice.offer.Files[0])
	for name, tc := range map[string]struct {
		source  *memory
		options basemodel.Options
		want    string
	}{
		"no name":                     {unnamed, basemodel.Options{}, "Give it one with --name owner/name."},
		"a name that leads elsewhere": {unnamed, basemodel.Options{Name: "../x"}, `"../x" cannot be the name of a model.`},
		"a hidden name":               {unnamed, basemodel.Options{Name: ".part/x"}, "cannot be the name of a model"},
		"no license":                  {unlicensed, basemodel.Options{}, "The model names no license. Its use may not be allowed. Install it with --license TEXT if you know better."},
		"no room":                     {huge, basemodel.Options{}, "This model needs 1 EiB and "},
		"no config":                   {source(tiny, "c", with(bert(1), map[string][]byte{"config.json": nil})), basemodel.Options{}, "The model has no config.json."},
		"no weights":                  {source(tiny, "c", with(bert(1), map[string][]byte{"model.safetensors": nil})), basemodel.Options{}, "there is no model.safetensors"},
		"a file twice":                {twice, basemodel.Options{}, "two files with the name"},
		"a config without end":        {source(tiny, "c", with(bert(1), map[string][]byte{"config.json": bytes.Repeat([]byte(" "), 5<<20)})), basemodel.Options{}, "config.json has 5 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := store(t)
			_, err := s.Plan(t.Context(), tc.source, tc.options)
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NoDirExists(t, filepath.Join(dir, "prajjwal1"))
		})
	}
}

func TestAFileThatIsNotWhatTheSourceSaysIsLoadedOnceMore(t *testing.T) {
	t.Parallel()
	flip := func(content []byte) io.Reader {
		other := bytes.Clone(content)
		other[len(other)-1] ^= 1
		return bytes.NewReader(other)
	}
	for name, spoil := range map[string]func([]byte) io.Reader{
		"a byte is another one": flip,
		"it is shorter":         func(c []byte) io.Reader { return bytes.NewReader(c[:len(c)-1]) },
		"it is longer":          func(c []byte) io.Reader { return io.MultiReader(bytes.NewReader(c), strings.NewReader("x")) },
		"it never ends":         func(c []byte) io.Reader { return io.MultiReader(bytes.NewReader(c), endless{}) },
		"it is empty":           func([]byte) io.Reader { return strings.NewReader("") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := store(t)
			from := source(tiny, "c1", bert(1))
			from.read = map[string]func([]byte) io.Reader{"model.safetensors": spoil}
			_, err := install(t, s, from, basemodel.Options{})
			require.ErrorContains(t, err, "model.safetensors is not what the Hub says it is (")
			require.ErrorContains(t, err, " differs), twice. Nothing was installed. Try again, or try another mirror.")
			require.NoDirExists(t, filepath.Join(dir, tiny))
			left, err := filepath.Glob(filepath.Join(dir, ".part", "*@*", "model.safetensors"))
			require.NoError(t, err)
			require.Empty(t, left, "the wrong file is removed")

			times := 0
			from.read["model.safetensors"] = func(c []byte) io.Reader {
				if times++; times == 1 {
					return spoil(c)
				}
				return bytes.NewReader(c)
			}
			_, err = install(t, s, from, basemodel.Options{})
			require.NoError(t, err, "once is no fault")
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAnInstallationGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		left    func(content []byte) []byte
		resumed bool
	}{
		"half of the file is there":        {func(c []byte) []byte { return c[:len(c)/2] }, true},
		"the first half is of another one": {func(c []byte) []byte { return bytes.Repeat([]byte("x"), len(c)/2) }, true},
		"more than the file is there":      {func(c []byte) []byte { return append(bytes.Clone(c), 'x') }, false},
		"all of it is there":               {bytes.Clone, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := store(t)
			from := source(tiny, "c1", bert(1))
			from.read = map[string]func([]byte) io.Reader{
				"model.safetensors": func([]byte) io.Reader { return iotest.ErrReader(errors.New("the network is gone")) },
			}
			_, err := install(t, s, from, basemodel.Options{})
			require.ErrorContains(t, err, "the network is gone")
			parts, err := filepath.Glob(filepath.Join(dir, ".part", "*@*"))
			require.NoError(t, err)
			require.Len(t, parts, 1)
			weights := tc.left(from.files["model.safetensors"])
			require.NoError(t, os.WriteFile(filepath.Join(parts[0], "model.safetensors"), weights, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(parts[0], "foreign.bin"), []byte("x"), 0o600))

			from.read = nil
			from.resumed.Store(0)
			p, err := s.Plan(t.Context(), from, basemodel.Options{})
			require.NoError(t, err)
			require.Positive(t, p.Loaded)
			m, err := s.Install(t.Context(), p, nil)
			require.NoError(t, err)
			require.Equal(t, tc.resumed, from.resumed.Load() == 1)
			require.Equal(t, from.files["model.safetensors"], contents(t, filepath.Join(dir, tiny))["model.safetensors"])
			require.Len(t, m.Files, 4, "a foreign file is not installed")
			require.NoDirExists(t, parts[0])
		})
	}
}

func TestALinkInTheFolderOfAnInstallationIsNotFollowed(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	from := source(tiny, "c1", bert(1))
	from.read = map[string]func([]byte) io.Reader{"vocab.txt": func([]byte) io.Reader { return iotest.ErrReader(errors.New("gone")) }}
	_, err := install(t, s, from, basemodel.Options{})
	require.Error(t, err)
	parts, err := filepath.Glob(filepath.Join(dir, ".part", "*@*"))
	require.NoError(t, err)
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	_ = os.Remove(filepath.Join(parts[0], "vocab.txt"))
	require.NoError(t, os.Symlink(victim, filepath.Join(parts[0], "vocab.txt")))
	from.read = nil
	_, err = install(t, s, from, basemodel.Options{})
	require.NoError(t, err)
	kept, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "mine", string(kept))
}

func TestTwoInstallationsAtOnceLoadTheModelOnce(t *testing.T) {
	t.Parallel()
	s, _ := store(t)
	from := source(tiny, "c1", bert(1))
	begun, goOn := make(chan struct{}), make(chan struct{})
	from.read = map[string]func([]byte) io.Reader{"model.safetensors": func(c []byte) io.Reader {
		close(begun) // a second time would panic
		<-goOn
		return bytes.NewReader(c)
	}}
	first, err := s.Plan(t.Context(), from, basemodel.Options{})
	require.NoError(t, err)
	second, err := s.Plan(t.Context(), from, basemodel.Options{})
	require.NoError(t, err)
	ended := make(chan error, 2)
	go func() {
		_, err := s.Install(t.Context(), first, nil)
		ended <- err
	}()
	<-begun
	waiting := make(chan struct{})
	go func() {
		_, err := s.Install(t.Context(), second, func(p basemodel.Progress) {
			if p.Step == basemodel.StepWait {
				close(waiting)
			}
		})
		ended <- err
	}()
	<-waiting
	close(goOn)
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
}

func TestAnInstallationThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, _ := store(t)
	from := source(tiny, "c1", bert(1))
	begun := make(chan struct{})
	blocked, stop := context.WithCancel(t.Context())
	from.read = map[string]func([]byte) io.Reader{"model.safetensors": func([]byte) io.Reader {
		close(begun)
		<-blocked.Done()
		return iotest.ErrReader(blocked.Err())
	}}
	p, err := s.Plan(t.Context(), from, basemodel.Options{})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := s.Install(blocked, p, nil)
		ended <- err
	}()
	<-begun
	other, err := s.Plan(t.Context(), from, basemodel.Options{})
	require.NoError(t, err)
	waiter, giveUp := context.WithCancel(t.Context())
	_, err = s.Install(waiter, other, func(basemodel.Progress) { giveUp() })
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Remove(waiter, tiny), context.Canceled)
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestANewRevisionTakesThePlaceOfTheOldOne(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	_, err := install(t, s, source(tiny, "c1", bert(1)), basemodel.Options{Default: true})
	require.NoError(t, err)
	open, err := os.Open(filepath.Join(dir, tiny, "model.safetensors"))
	require.NoError(t, err)
	defer func() { _ = open.Close() }()

	m, err := install(t, s, source(tiny, "c2", bert(2)), basemodel.Options{})
	require.NoError(t, err)
	require.Equal(t, "c2", m.Commit)
	require.True(t, m.Default, "the mark stays")
	require.Equal(t, bert(2)["model.safetensors"], contents(t, filepath.Join(dir, tiny))["model.safetensors"])
	read, err := io.ReadAll(open)
	require.NoError(t, err)
	require.Equal(t, bert(1)["model.safetensors"], read, "who has the old file open reads it to its end")
	old, err := filepath.Glob(filepath.Join(dir, ".old", "prajjwal1--bert-tiny@*", "model.safetensors"))
	require.NoError(t, err)
	require.Len(t, old, 1)
	info, err := os.Stat(filepath.Dir(old[0]))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), info.ModTime(), time.Minute)
}

func TestAModelThatIsThereIsNotLoadedAgain(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	from := source(tiny, "c1", bert(1))
	_, err := install(t, s, from, basemodel.Options{})
	require.NoError(t, err)
	from.opened.Store(0)
	p, err := s.Plan(t.Context(), from, basemodel.Options{Default: true})
	require.NoError(t, err)
	require.True(t, p.Done)
	m, err := s.Install(t.Context(), p, nil)
	require.NoError(t, err)
	require.True(t, m.Default, "the mark is set without loading")
	require.Equal(t, int64(1), from.opened.Load(), "only config.json is read, to say the kind")

	require.NoError(t, os.Truncate(filepath.Join(dir, tiny, "model.safetensors"), 10))
	p, err = s.Plan(t.Context(), from, basemodel.Options{})
	require.NoError(t, err)
	require.False(t, p.Done, "a model with a damaged file is installed again")
	_, err = s.Install(t.Context(), p, nil)
	require.NoError(t, err)
	faults, err := s.Verify(t.Context(), tiny)
	require.NoError(t, err)
	require.Empty(t, faults)
}

func TestAModelForSomeUsesAloneIsInstalledAndIsNoDefault(t *testing.T) {
	t.Parallel()
	s, _ := store(t)
	_, err := s.Plan(t.Context(), source(tiny, "c1", bert(1)), basemodel.Options{Default: true, License: "cc-by-nc-4.0"})
	require.ErrorContains(t, err, "Install it without --default")
	_, err = install(t, s, source(tiny, "c1", bert(1)), basemodel.Options{License: "cc-by-nc-4.0"})
	require.NoError(t, err)
}

func TestOneModelOfAKindIsTheDefault(t *testing.T) {
	t.Parallel()
	s, _ := store(t)
	for _, id := range []string{"a/one", "b/two", "a/one"} {
		_, err := install(t, s, source(id, "c1", bert(1)), basemodel.Options{Default: true})
		require.NoError(t, err)
	}
	all, err := s.List()
	require.NoError(t, err)
	require.True(t, all[0].Model.Default)
	require.False(t, all[1].Model.Default)
}
