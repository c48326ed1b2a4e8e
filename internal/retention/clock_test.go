package retention

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// changedAt makes a job one that was last changed at a time, as if the clock had been wrong then.
func (f *fixture) changedAt(t *testing.T, run string, at time.Time) {
	t.Helper()
	rec, err := f.store.Get(t.Context(), run)
	require.NoError(t, err)
	rec.Updated = at
	doc, err := json.Marshal(rec)
	require.NoError(t, err)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(f.state, "jobs.db"))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE jobs SET updated = ?, record = ? WHERE run = ?", at.UnixNano(), doc, run)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestAClockThatWasSetBackRemovesNothingEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for run, state := range map[string]job.State{"ft-failed": job.Failed, "ft-cancelled": job.Cancelled, "ft-done": job.Done} {
			f.ended(t, run, state)
			f.changedAt(t, run, time.Now().Add(10*day)) // the clock was ten days ahead then
		}
		f.sweepAfter(t, time.Minute)
		require.Equal(t, all(), f.files(t, "ft-failed"), "it may be retried")
		require.Equal(t, all(), f.files(t, "ft-cancelled"))
		require.Equal(t, story, f.files(t, "ft-done"), "what can be made again is removed all the same")
		rec, err := f.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.NotEmpty(t, rec.SecretKey)
		f.sweepAfter(t, 16*day)
		require.Equal(t, all(), f.files(t, "ft-failed"), "its time begins at its own end")
		f.sweepAfter(t, 2*day)
		require.Equal(t, story, f.files(t, "ft-failed"))
	})
}

func TestEachTimeIsReachedExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.ended(t, "ft-failed", job.Failed)
		key := func() bool {
			rec, err := f.store.Get(t.Context(), "ft-failed")
			require.NoError(t, err)
			return rec.SecretKey != ""
		}
		f.sweepAfter(t, 7*day)
		require.True(t, key(), "at the limit")
		f.sweepAfter(t, time.Nanosecond)
		require.False(t, key(), "after the limit")
		rec, err := f.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), rec.Updated, 0, "from here on the folder and the record have their time")
		f.sweepAfter(t, 30*day)
		require.Equal(t, story, f.files(t, "ft-failed"))
		f.sweepAfter(t, time.Nanosecond)
		require.Empty(t, f.files(t, "ft-failed"))
	})
}

func TestAServiceThatWasOffForAYearCatchesUpWithOneSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.ended(t, "ft-done", job.Done)
		f.ended(t, "ft-failed", job.Failed)
		f.ended(t, "ft-running", job.Running)
		f.sweepAfter(t, 365*day)
		require.Empty(t, f.files(t, "ft-done"))
		_, err := f.store.Get(t.Context(), "ft-done")
		require.ErrorIs(t, err, job.ErrNotFound)
		require.Equal(t, all(), f.files(t, "ft-running"), "an active job loses nothing")
		require.NotEmpty(t, f.files(t, "ft-failed"), "the erased key counts as a change, so its record and its folder stay together")
	})
}

func TestStaleFilesAreJudgedByTheirAgeOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		age  time.Duration
		gone bool
	}{"just written": {0, false}, "almost a day old": {staleAfter - time.Minute, false}, "more than a day old": {staleAfter + time.Minute, true}, "from the future": {-staleAfter * 9, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for _, file := range []string{".doctor-1", "trainer/.installing-1/run.py", "registry/d/reviews/.ft-dead/model/x", "registry/d/reviews/7/version.json", "trainer/1f/run.py", "models/.old/a--b@1/config.json", "models/a/b/config.json"} {
				f.write(t, file)
			}
			at := time.Now().Add(-tc.age)
			for _, path := range []string{".doctor-1", "trainer/.installing-1", "registry/d/reviews/.ft-dead", "registry/d/reviews/7", "trainer/1f", "models/.old/a--b@1", "models/a/b", "models/a"} {
				require.NoError(t, os.Chtimes(filepath.Join(f.shared, path), at, at))
			}
			require.NoError(t, f.dropStale())
			for _, path := range []string{".doctor-1", "trainer/.installing-1", "registry/d/reviews/.ft-dead", "models/.old/a--b@1"} {
				_, err := os.Lstat(filepath.Join(f.shared, path))
				require.Equal(t, tc.gone, os.IsNotExist(err), path)
			}
			require.FileExists(t, filepath.Join(f.shared, "registry/d/reviews/7/version.json"), "a version is never stale")
			require.FileExists(t, filepath.Join(f.shared, "trainer/1f/run.py"), "nor an installed trainer")
			require.FileExists(t, filepath.Join(f.shared, "models/a/b/config.json"), "nor an installed base model")
		})
	}
}
