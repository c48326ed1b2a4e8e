package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// event is a line of an event log.
func event(attempt, step int) string {
	return fmt.Sprintf(`{"time":"2026-11-21T12:00:00Z","attempt":%d,"kind":"progress","epoch":1,"epochs":3,"step":%d,"steps":100,"fraction":%.2f}`+"\n", attempt, step, float64(step)/100)
}

// write writes a file of a run, or more of it.
func write(t *testing.T, dir disk.Folder, name, text string, flag int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir.Path(), name), os.O_CREATE|os.O_WRONLY|flag, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestTheProgressOfARunIsReadOnceASecond(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.add("ft-1", in(job.Running))
	dir := f.folder("ft-1")
	step := func() int {
		out, progress, gone := f.folders.look(rec)
		require.Nil(t, out)
		require.False(t, gone)
		return progress.Step
	}
	require.Zero(t, step(), "nothing is written yet")
	write(t, dir, results.EventsFile, event(1, 10), os.O_APPEND)
	require.Zero(t, step())
	f.pass(lookActive)
	require.Equal(t, 10, step())
	write(t, dir, results.EventsFile, event(1, 20)+event(2, 90)+event(1, 30)[:40], os.O_APPEND)
	f.pass(lookActive)
	require.Equal(t, 20, step(), "neither half a line nor an attempt that has not begun")
	rec.Attempt = 2
	write(t, dir, results.EventsFile, event(1, 30)[40:]+event(2, 5), os.O_APPEND)
	require.Equal(t, 5, step(), "a new attempt is looked at at once")
}

func TestAResultTakesThePlaceOfTheProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.add("ft-1", in(job.Running))
	dir := f.folder("ft-1")
	write(t, dir, results.EventsFile, event(1, 50), os.O_APPEND)
	_, progress, _ := f.folders.look(rec)
	require.Equal(t, 50, progress.Step)

	doc := string(resultstest.Golden(t, "result.json"))
	write(t, dir, results.ResultFile, doc, os.O_TRUNC)
	rec.State = job.Done
	out, progress, gone := f.folders.look(rec)
	require.NotNil(t, out, "the end of a run is looked at at once")
	require.Equal(t, results.ResultTraining, out.kind)
	require.Zero(t, progress, "the result says all that a list shows")
	require.False(t, gone)

	write(t, dir, results.ResultFile, "{", os.O_TRUNC)
	f.pass(lookOver - 1)
	out, _, _ = f.folders.look(rec)
	require.NotNil(t, out, "a run that is over is looked at once a minute")
	f.pass(1)
	out, _, _ = f.folders.look(rec)
	require.Nil(t, out, "a result that cannot be read is left out")

	require.NoError(t, os.RemoveAll(dir.Path()))
	f.pass(lookOver)
	_, _, gone = f.folders.look(rec)
	require.True(t, gone)
}

func TestAScriptThatFailedShowsWhatItLeft(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.add("ft-1", in(job.Failed), to("ncsa.ray.script"))
	dir := f.folder("ft-1")
	write(t, dir, results.PartialFile, string(resultstest.Golden(t, "result-script-partial.json")), os.O_TRUNC)
	out, _, _ := f.folders.look(rec)
	require.NotNil(t, out)
	require.Equal(t, results.ResultScript, out.kind)

	write(t, dir, results.ResultFile, string(resultstest.Golden(t, "result-script.json")), os.O_TRUNC)
	f.pass(lookOver)
	finished, _, _ := f.folders.look(rec)
	require.NotNil(t, finished)
	require.NotSame(t, out, finished, "a result counts before what was left")
}

func TestAFolderIsGoneOnlyAfterItWasThere(t *testing.T) {
	t.Parallel()
	for state, want := range map[job.State]bool{job.Accepted: false, job.Staged: true, job.Running: true, job.Done: true, job.Failed: true} {
		f := newFixture(t)
		_, _, gone := f.folders.look(f.add("ft-1", in(state)))
		require.Equal(t, want, gone, state)
	}
	f := newFixture(t)
	require.NoError(t, os.WriteFile(filepath.Join(f.volume, "ft-1"), nil, 0o600))
	_, _, gone := f.folders.look(f.add("ft-1"))
	require.False(t, gone, "a file in the place of a folder cannot be read, which is no removal")
}

func TestNoLinkOfATrainingIsFollowed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.add("ft-1")
	dir := f.folder("ft-1")
	secret := filepath.Join(t.TempDir(), "result.json")
	require.NoError(t, os.WriteFile(secret, resultstest.Golden(t, "result.json"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir.Path(), results.ResultFile)))
	out, _, _ := f.folders.look(rec)
	require.Nil(t, out)
	require.NoError(t, os.Remove(filepath.Join(dir.Path(), results.ResultFile)))
	require.NoError(t, os.Mkdir(filepath.Join(dir.Path(), results.ResultFile), 0o700))
	f.pass(lookOver)
	out, _, _ = f.folders.look(rec)
	require.Nil(t, out)
}

func TestTheShelfIsBounded(t *testing.T) {
	t.Parallel()
	s := newFolderCache(func(string) disk.Folder { return disk.Folder{Volume: "/nowhere"} })
	for i := range maxCachedRuns + 10 {
		_ = s.of(strconv.Itoa(i))
	}
	require.Len(t, s.runs, maxCachedRuns)
	last := s.of(strconv.Itoa(maxCachedRuns + 9))
	require.Same(t, last, s.of(strconv.Itoa(maxCachedRuns+9)))
}
