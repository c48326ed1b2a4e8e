package volume

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// run is the run of these tests.
const run = "ft-one"

func TestAListOfInputsThatTheTrainingWroteIsRefused(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	require.NoError(t, v.ResetRun(run))
	sum, err := v.WriteInputs(run, []job.Input{{ID: "mine"}})
	require.NoError(t, err)
	rec := job.Record{Run: run, InputsSHA256: sum}
	inputs, err := v.ReadInputs(rec)
	require.NoError(t, err)
	require.Equal(t, []job.Input{{ID: "mine"}}, inputs)

	require.NoError(t, v.WriteJSON(run, inputsFile, []job.Input{{ID: "of somebody else"}}))
	_, err = v.ReadInputs(rec)
	require.ErrorContains(t, err, "another program changed")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	_, err = v.ReadInputs(job.Record{Run: run})
	require.NoError(t, err, "a job that an older version has staged knows no sum")
}

func TestTheRunFolderIsOpenedToTheGroupWhateverTheUmask(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	folder := v.Run(run).Path()
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.Chmod(folder, 0o755|os.ModeSetgid)) // as below a volume of a group
	for range 2 {
		require.NoError(t, v.Share(run))
		info, err := os.Stat(folder)
		require.NoError(t, err)
		require.Equal(t, 0o775|os.ModeSetgid|os.ModeDir, info.Mode())
	}
	other := t.TempDir()
	require.NoError(t, os.Chmod(other, 0o700))
	require.NoError(t, os.Remove(folder))
	require.NoError(t, os.Symlink(other, folder))
	require.Error(t, v.Share(run))
	info, err := os.Stat(other)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "a link is not followed")
}

func TestAStopIsRequestedOnce(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	require.NoError(t, v.ResetRun(run))
	path := filepath.Join(v.Run(run).Path(), stopFile)
	require.NoError(t, os.WriteFile(path, []byte("pause\n"), 0o600))
	for _, want := range []bool{true, false} {
		requested, err := v.RequestStop(run)
		require.NoError(t, err)
		require.Equal(t, want, requested)
		doc, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "keep\n", string(doc), "it replaces what an operator wrote by hand")
	}
	require.NoError(t, v.ResetRun(run))
	require.NoFileExists(t, path, "a new attempt is not stopped by an old request")
}
