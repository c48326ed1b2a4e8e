package pipeline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// listingRay says that attempts of this service are on Ray.
type listingRay struct {
	*fakeRay
	listed []string
	fault  error
}

func (r *listingRay) List(context.Context) (handles []rayjob.Handle, err error) {
	for _, id := range r.listed {
		handles = append(handles, rayjob.Handle{ID: id})
	}
	return handles, r.fault
}

// put stores a job in the state that change makes of it.
func (b *bench) put(t *testing.T, run string, change func(*job.Record)) {
	t.Helper()
	b.accept(t, run, nil)
	_, err := b.store.Change(t.Context(), run, func(r *job.Record) error { change(r); return nil })
	require.NoError(t, err)
}

func TestAttemptsThatNobodyWaitsForAreReleased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	handle := func(id string) *rayjob.Handle { return &rayjob.Handle{Backend: "fake", ID: id} }
	b.put(t, "ft-over", func(r *job.Record) { r.Handle = handle("ft-over-a1"); r.End(job.Failed, "x"); _ = r.Close() })
	b.put(t, "ft-runs", func(r *job.Record) { r.Handle = handle("ft-runs-a1"); r.Advance(job.Running) })
	b.put(t, "ft-new", func(r *job.Record) { r.Advance(job.Staged) }) // killed between the submission and the record of it
	b.put(t, "ft-again", func(r *job.Record) {
		r.Attempt = 2
		r.Handle = handle("ft-again-a2")
		r.NextAttempt()
	})
	ray := &listingRay{fakeRay: b.ray, listed: []string{
		"ft-over-a1", "ft-unknown-a3", "ft-again-a1", "ft-runs-a1", "ft-new-a1", "ft-again-a2", "ft-again-a3", "by-hand",
	}}
	require.NoError(t, b.releaseOrphans(t.Context(), ray))
	require.Equal(t, []string{"ft-over-a1", "ft-unknown-a3", "ft-again-a1"}, b.ray.released)
}

func TestAFailedLookReleasesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ray := &listingRay{fakeRay: b.ray, listed: []string{"ft-unknown-a1"}, fault: errors.New("Ray does not answer")}
	require.Error(t, b.releaseOrphans(t.Context(), ray))
	require.NoError(t, b.store.Close())
	ray.fault = nil
	require.Error(t, b.releaseOrphans(t.Context(), ray), "a store that does not answer knows of no job, and that is no reason")
	require.Empty(t, b.ray.released)
}

func TestOrphansAreLookedForAtTheStartAndFromTimeToTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		ray := &listingRay{fakeRay: b.ray, listed: []string{"ft-unknown-a1"}}
		b.backend = ray
		stopAfter(t, b, orphansEvery+time.Minute)
		require.Equal(t, []string{"ft-unknown-a1", "ft-unknown-a1"}, b.ray.released)
	})
}
