package job_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

// end ends a job as done.
func end(tb testing.TB, s job.Store, run string) {
	tb.Helper()
	_, err := s.Change(tb.Context(), run, func(r *job.Record) error { r.End(job.Done, "x"); return r.Close() })
	require.NoError(tb, err)
}

func TestAnErasedKeyIsShreddedWithoutAnythingBeingForgotten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path)
	require.NoError(t, s.Shred(t.Context()), "the first look of a service")
	accept(t, s, "ft-one")
	end(t, s, "ft-one")
	require.NoError(t, s.Shred(t.Context()))
	requireAbsent(t, path, "erased at the end of the job")

	failed := jobtest.Record("ft-failed", "h1")
	_, _, err := s.Accept(t.Context(), failed)
	require.NoError(t, err)
	_, err = s.Change(t.Context(), "ft-failed", func(r *job.Record) error { r.SecretKey = "another"; return nil })
	require.NoError(t, err)
	require.NoError(t, s.Shred(t.Context()))
	requireAbsent(t, path, "replaced by another")
}

func TestWhatAKilledProcessErasedIsShreddedAtTheNextStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	killed := openStore(t, path) // its log stays, as after a kill
	accept(t, killed, "ft-one")
	end(t, killed, "ft-one")
	require.NoError(t, openStore(t, path).Shred(t.Context()))
	requireAbsent(t, path, "by a process that is gone")
}

func TestClosingShredsWhatWasErased(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	openStore(t, path) // another process, or the log would be removed in any case
	s := openStore(t, path)
	accept(t, s, "ft-one")
	end(t, s, "ft-one")
	require.NoError(t, s.Close())
	requireAbsent(t, path, "before the end of the process")
}

func TestALogThatIsReadIsShreddedTheNextTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path)
	accept(t, s, "ft-one")
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	reader, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRowContext(t.Context(), "SELECT count(*) FROM jobs").Scan(&n))
	end(t, s, "ft-one")

	began := time.Now()
	require.ErrorContains(t, s.Shred(t.Context()), "being read")
	require.Less(t, time.Since(began), 5*time.Second, "jobs wait for it, so it does not wait long for others")
	accept(t, s, "ft-two")
	require.NoError(t, reader.Rollback())
	end(t, s, "ft-two")
	require.NoError(t, s.Shred(t.Context()))
	requireAbsent(t, path, "once nobody reads any more")
}

// BenchmarkJobs is what the life of a trivial job costs the store, alone and where erased keys are shredded as often as the
// service does for jobs of a millisecond, and after each job.
func BenchmarkJobs(b *testing.B) {
	for name, every := range map[string]int{"never shredded": 0, "shredded every 1000 jobs": 1000, "shredded after each": 1} {
		b.Run(name, func(b *testing.B) {
			s := openStore(b, filepath.Join(b.TempDir(), "jobs.db"))
			for i := 1; b.Loop(); i++ {
				run := fmt.Sprintf("ft-%d", i)
				accept(b, s, run)
				end(b, s, run)
				if every > 0 && i%every == 0 {
					require.NoError(b, s.Shred(b.Context()))
				}
			}
		})
	}
}
