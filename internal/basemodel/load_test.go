package basemodel_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/hub/hubtest"
	"github.com/ncsa/clowder-ray/internal/job"
)

// weightsFile is the file of a model whose loading is spoilt.
const weightsFile = "model.safetensors"

// known changes what a source says about its files: the name that git gives to their content, as of small files of the Hub, or nothing.
func known(from *memory, git bool) *memory {
	for i, f := range from.offer.Files {
		from.offer.Files[i].SHA256 = ""
		if git {
			from.offer.Files[i].GitSHA1 = hubtest.GitSHA1(from.files[f.Path])
		}
	}
	return from
}

func TestAFileThatOnlyGitHasNamedIsChecked(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	from := known(source(tiny, "c1", bert(1)), true)
	from.read = map[string]func([]byte) io.Reader{weightsFile: func(c []byte) io.Reader {
		return bytes.NewReader(append(bytes.Clone(c[:len(c)-1]), c[len(c)-1]^1))
	}}
	_, err := install(t, s, from, basemodel.Options{})
	const want = "model.safetensors is not what the Hub says it is (sha1 differs), twice. Nothing was installed. Try again, or try another mirror."
	require.EqualError(t, err, want)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	from.read = nil
	m, err := install(t, s, from, basemodel.Options{})
	require.NoError(t, err)
	require.Len(t, m.Files, 4)
	require.Equal(t, bert(1)[weightsFile], contents(t, filepath.Join(dir, tiny))[weightsFile])
}

func TestAFileOfWhichNothingIsKnownIsLoadedFromItsBegin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		git     bool
		resumed int64
	}{"its hash is known": {true, 1}, "its size alone is known": {false, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := store(t)
			from := known(source(tiny, "c1", bert(1)), tc.git)
			from.read = map[string]func([]byte) io.Reader{weightsFile: func(c []byte) io.Reader {
				return io.MultiReader(bytes.NewReader(c[:40]), iotest.ErrReader(errors.New("the network is gone")))
			}}
			_, err := install(t, s, from, basemodel.Options{})
			require.ErrorContains(t, err, "the network is gone")
			from.read = nil
			from.resumed.Store(0)
			_, err = install(t, s, from, basemodel.Options{})
			require.NoError(t, err)
			require.Equal(t, tc.resumed, from.resumed.Load(), "without a hash nobody knows whether the begin is right")
			require.Equal(t, bert(1)[weightsFile], contents(t, filepath.Join(dir, tiny))[weightsFile])
		})
	}
}

func TestASourceCannotNameAFileThatNoFolderHas(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"too long a name": "LICENSE" + strings.Repeat("x", 249), "a path of Windows": `LICENSE\..\x`, "a byte that ends names": "NOTICE\x00.txt",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := store(t)
			_, err := install(t, s, source(tiny, "c1", with(bert(1), map[string][]byte{path: []byte("x")})), basemodel.Options{})
			require.ErrorContains(t, err, "The model has a file with the invalid name ")
			require.Less(t, len(err.Error()), 200, "an error is short")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NoDirExists(t, filepath.Join(dir, tiny))
		})
	}
}

func TestTheProgressOfAnInstallationEndsAtItsTotal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string][]byte
		spoil bool
		steps []basemodel.Step
	}{
		"safetensors":                 {bert(1), false, []basemodel.Step{basemodel.StepLoad, basemodel.StepCheck}},
		"a file that is loaded twice": {bert(1), true, []basemodel.Step{basemodel.StepLoad, basemodel.StepCheck}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := store(t)
			from := source(tiny, "c1", tc.files)
			first := true
			if tc.spoil {
				from.read = map[string]func([]byte) io.Reader{weightsFile: func(c []byte) io.Reader {
					if first {
						first, c = false, bytes.Repeat([]byte("x"), len(c))
					}
					return bytes.NewReader(c)
				}}
			}
			plan, err := s.Plan(t.Context(), from, basemodel.Options{})
			require.NoError(t, err)
			var mu sync.Mutex
			var steps []basemodel.Step
			most := int64(0)
			_, err = s.Install(t.Context(), plan, func(p basemodel.Progress) {
				mu.Lock()
				defer mu.Unlock()
				if len(steps) == 0 || steps[len(steps)-1] != p.Step {
					steps = append(steps, p.Step)
				}
				most = max(most, p.Done)
				if p.Step == basemodel.StepLoad && p.Total != plan.Bytes {
					t.Error("the total is", p.Total)
				}
			})
			require.NoError(t, err)
			require.Equal(t, tc.steps, steps)
			require.Equal(t, plan.Bytes, most, "a byte that is loaded twice counts once")
		})
	}
}

func TestOnlyTheFilesOfAFolderAreOffered(t *testing.T) {
	t.Parallel()
	dir := folder(t, with(bert(1), map[string][]byte{"tokenizer.json/x": []byte("x")}))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "merges.txt"), 0o600)) // to open it would block without end
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "notes.txt")))
	from, err := basemodel.OpenFolder(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, from.Close()) }()
	offer, err := from.Look(t.Context())
	require.NoError(t, err)
	var names []string
	for _, f := range offer.Files {
		names = append(names, f.Path)
	}
	require.Equal(t, []string{"README.md", "config.json", weightsFile, "vocab.txt"}, names)
	for _, path := range []string{"merges.txt", "notes.txt", "../x"} {
		_, err := from.Open(t.Context(), basemodel.File{Path: path}, 0)
		require.ErrorContains(t, err, path+" cannot be read: ")
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
	r, err := from.Open(t.Context(), basemodel.File{Path: "vocab.txt"}, 6)
	require.NoError(t, err)
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "[UNK]\n[CLS]\n[SEP]\n[MASK]\nword\n", string(rest))
	require.NoError(t, r.Close())
}

func TestAFileThatGrowsAfterTheFolderWasListedIsNotInstalled(t *testing.T) {
	t.Parallel()
	dir := folder(t, bert(1))
	from, err := basemodel.OpenFolder(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, from.Close()) }()
	s, models := store(t)
	plan, err := s.Plan(t.Context(), from, basemodel.Options{Name: tiny})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "vocab.txt"), []byte("another vocabulary, which is longer than the first"), 0o600))
	_, err = s.Install(t.Context(), plan, nil)
	require.EqualError(t, err, "vocab.txt was changed while it was copied (its size differs), twice. Nothing was installed. Try again when nobody writes there.")
	require.NoDirExists(t, filepath.Join(models, tiny))
	_, err = s.Verify(t.Context(), tiny)
	require.EqualError(t, err, "The model "+tiny+" is not installed. extractor models installed lists those that are.")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan, err = s.Plan(t.Context(), from, basemodel.Options{Name: tiny})
	require.NoError(t, err)
	_, err = s.Install(ctx, plan, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NoDirExists(t, filepath.Join(models, tiny))
}
