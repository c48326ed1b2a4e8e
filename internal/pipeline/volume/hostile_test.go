package volume

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

// inputsOf is the path of the list of the staged files.
func inputsOf(v Volume) string { return filepath.Join(v.Run(run).Path(), inputsFile) }

func TestANewAttemptKeepsWhatTheRunStagedAndTrained(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	require.NoError(t, v.ResetRun(run))
	dir := v.Run(run).Path()
	for _, name := range []string{stopFile, results.ResultFile, results.FailureFile, "events.jsonl", "inputs/a.csv", "checkpoints/1/model.pt"} {
		touched(t, dir, name)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, stopFile)))
	touched(t, dir, stopFile, "below") // a training can make a folder of it
	require.NoError(t, v.ResetRun(run))
	for _, name := range []string{stopFile, results.ResultFile, results.FailureFile} {
		_, err := os.Lstat(filepath.Join(dir, name))
		require.ErrorIs(t, err, os.ErrNotExist, name)
	}
	for _, name := range []string{"events.jsonl", "inputs/a.csv", "checkpoints/1/model.pt"} {
		require.FileExists(t, filepath.Join(dir, name), "the training goes on from it")
	}
}

func TestAListOfInputsThatCannotBeReadIsNoList(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(path string) error
		want  string
	}{
		"it is gone":    {os.Remove, "read the list of staged files: "},
		"it is no JSON": {func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, "decode the list of staged files: "},
		"it is another": {func(path string) error { return os.WriteFile(path, []byte(`{"a": 1}`), 0o600) }, "decode the list of staged files: "},
		"it is endless": {func(path string) error { return os.Truncate(path, maxInputs+1) }, "the limit is 67108864"}, // sparse: it takes no room
		"it is a pipe":  {func(path string) error { return recreate(path, func() error { return syscall.Mkfifo(path, 0o600) }) }, "inputs.json is a pipe"},
		"it leads out": {func(path string) error {
			return recreate(path, func() error { return os.Symlink("/etc/hostname", path) })
		}, "inputs.json is a link"},
		"it is a folder": {func(path string) error { return recreate(path, func() error { return os.Mkdir(path, 0o700) }) }, "inputs.json is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Volume{Dir: t.TempDir()}
			require.NoError(t, v.ResetRun(run))
			_, err := v.WriteInputs(run, []job.Input{{ID: "mine"}})
			require.NoError(t, err)
			require.NoError(t, tc.spoil(inputsOf(v)))
			inputs, err := v.ReadInputs(job.Record{Run: run}) // without a sum, as an older version staged it
			require.ErrorContains(t, err, tc.want)
			require.Empty(t, inputs)
		})
	}
}

// recreate puts something else in the place of a file.
func recreate(path string, create func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return create()
}

func TestTheServiceWritesThroughNoLinkOfTheTraining(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	require.NoError(t, v.ResetRun(run))
	victim := touched(t, t.TempDir(), "victim")
	for _, name := range []string{stopFile, inputsFile, "spec.json"} {
		require.NoError(t, os.Symlink(victim, filepath.Join(v.Run(run).Path(), name)))
	}
	requested, err := v.RequestStop(run)
	require.NoError(t, err)
	require.True(t, requested)
	_, err = v.WriteInputs(run, nil)
	require.NoError(t, err)
	require.NoError(t, v.WriteJSON(run, "spec.json", map[string]int{"schema": 1}))
	doc, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "x", string(doc))
	spec, err := os.ReadFile(filepath.Join(v.Run(run).Path(), "spec.json"))
	require.NoError(t, err)
	require.Equal(t, "{\n  \"schema\": 1\n}\n", string(spec))
}

func TestAStopThatTheTrainingWroteTooLongIsReplaced(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	require.NoError(t, v.ResetRun(run))
	for said, want := range map[string]bool{
		"keep": false, " keep \n\n": false, "keep it": true, "": true, "KEEP\n": true, "keep" + strings.Repeat(" ", maxStop): true,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(v.Run(run).Path(), stopFile), []byte(said), 0o600))
		requested, err := v.RequestStop(run)
		require.NoError(t, err)
		require.Equal(t, want, requested, "%.20q", said)
	}
}

func TestWhatCannotBeWrittenNamesItsFile(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	err := v.WriteJSON(run, "spec.json", nil)
	require.ErrorContains(t, err, "write spec.json: ", "the run has no folder")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = v.WriteInputs(run, nil)
	require.ErrorContains(t, err, "open the folder of all runs: ")
	_, err = v.RequestStop(run)
	require.ErrorContains(t, err, "write stop: ")
	require.NoError(t, v.ResetRun(run))
	require.ErrorContains(t, v.WriteJSON(run, "spec.json", func() {}), "encode spec.json: ")
	require.NoFileExists(t, filepath.Join(v.Run(run).Path(), "spec.json"), "a reader sees all of it or nothing")

	require.NoError(t, os.RemoveAll(v.Run(run).Path()))
	touched(t, v.Run(run).Path()) // a file in the place of the folder
	require.ErrorContains(t, v.ResetRun(run), "make the run folder: ")
	require.ErrorContains(t, v.Share(run), "make the run folder writable for the group of the volume: ")
}

func TestJobsThatWriteAtTheSameTimeShareABarrier(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir(), Barrier: &disk.Barrier{}}
	names := []string{"ft-a", "ft-b", "ft-c", "ft-d", "ft-e", "ft-f"}
	sums := make([]string, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			if err := v.ResetRun(name); err != nil {
				t.Error(err)
			}
			var err error
			if sums[i], err = v.WriteInputs(name, []job.Input{{ID: name}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, name := range names {
		inputs, err := v.ReadInputs(job.Record{Run: name, InputsSHA256: sums[i]})
		require.NoError(t, err)
		require.Equal(t, []job.Input{{ID: name}}, inputs, "each job has its own list")
	}
}
