package attempt

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// listingRay says that attempts of this service are on Ray, and remembers which were released.
type listingRay struct {
	rayjob.Backend

	listed   []string
	fault    error
	released []string
}

func (r *listingRay) List(context.Context) (handles []rayjob.Handle, err error) {
	for _, id := range r.listed {
		handles = append(handles, rayjob.Handle{ID: id})
	}
	return handles, r.fault
}

func (r *listingRay) Release(_ context.Context, h rayjob.Handle) error {
	r.released = append(r.released, h.ID)
	return nil
}

func newReleaser(t *testing.T, ray *listingRay) (*Releaser, job.Store) {
	t.Helper()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return &Releaser{Backend: ray, Records: store, Orphaned: func() {}, Log: zaptest.NewLogger(t)}, store
}

// put stores a job in the state that change makes of it.
func put(t *testing.T, store job.Store, run string, change func(*job.Record)) {
	t.Helper()
	_, _, err := store.Accept(t.Context(), jobtest.Record(run, "h1"))
	require.NoError(t, err)
	_, err = store.Change(t.Context(), run, func(r *job.Record) error { change(r); return nil })
	require.NoError(t, err)
}

func TestAttemptsThatNobodyWaitsForAreReleased(t *testing.T) {
	t.Parallel()
	ray := &listingRay{listed: []string{
		"ft-over-a1", "ft-unknown-a3", "ft-again-a1", "ft-runs-a1", "ft-new-a1", "ft-again-a2", "ft-again-a3", "by-hand",
	}}
	r, store := newReleaser(t, ray)
	handle := func(id string) *rayjob.Handle { return &rayjob.Handle{Backend: "fake", ID: id} }
	put(t, store, "ft-over", func(r *job.Record) { r.Handle = handle("ft-over-a1"); r.End(job.Failed, "x"); _ = r.Close() })
	put(t, store, "ft-runs", func(r *job.Record) { r.Handle = handle("ft-runs-a1"); r.Advance(job.Running) })
	put(t, store, "ft-new", func(r *job.Record) { r.Advance(job.Staged) }) // killed between the submission and the record of it
	put(t, store, "ft-again", func(r *job.Record) {
		r.Attempt = 2
		r.Handle = handle("ft-again-a2")
		r.NextAttempt()
	})
	require.NoError(t, r.releaseOrphans(t.Context(), ray))
	require.Equal(t, []string{"ft-over-a1", "ft-unknown-a3", "ft-again-a1"}, ray.released)
}

func TestAFailedLookReleasesNothing(t *testing.T) {
	t.Parallel()
	ray := &listingRay{listed: []string{"ft-unknown-a1"}, fault: errors.New("Ray does not answer")}
	r, store := newReleaser(t, ray)
	require.Error(t, r.releaseOrphans(t.Context(), ray))
	require.NoError(t, store.Close())
	ray.fault = nil
	require.Error(t, r.releaseOrphans(t.Context(), ray), "a store that does not answer knows of no job, and that is no reason")
	require.Empty(t, ray.released)
}

func TestOrphansAreLookedForAtTheStartAndFromTimeToTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ray := &listingRay{listed: []string{"ft-unknown-a1"}}
		r, _ := newReleaser(t, ray)
		ctx, stop := context.WithTimeout(t.Context(), orphansEvery+time.Minute)
		defer stop()
		r.LookForOrphans(ctx)
		require.Equal(t, []string{"ft-unknown-a1", "ft-unknown-a1"}, ray.released)
	})
}
