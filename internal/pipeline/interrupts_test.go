package pipeline

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

func TestTheRecordOfARestingJobIsKeptUntilItChangesOrIsOld(t *testing.T) {
	at := func(version int64) job.Record { return job.Record{Run: "a", Version: version} }
	for name, tc := range map[string]struct {
		before func(r *recordCache)
		kept   int64 // version, 0 if none
	}{
		"nothing was read":                {func(*recordCache) {}, 0},
		"it was read":                     {func(r *recordCache) { r.take("a"); r.keep(at(1)) }, 1},
		"the job is new":                  {func(r *recordCache) { r.put(at(1)) }, 1},
		"it was known already":            {func(r *recordCache) { r.take("a"); r.keep(at(2)); r.put(at(1)) }, 2},
		"nobody was on the job":           {func(r *recordCache) { r.keep(at(1)) }, 0},
		"it was seen again":               {func(r *recordCache) { r.take("a"); r.keep(at(1)); r.drop(at(1)) }, 1},
		"another process changed it":      {func(r *recordCache) { r.take("a"); r.keep(at(1)); r.drop(at(2)) }, 0},
		"it was changed during a look":    {func(r *recordCache) { r.take("a"); r.drop(at(2)); r.keep(at(1)) }, 0},
		"it was changed during a 2nd one": {func(r *recordCache) { r.take("a"); r.keep(at(1)); r.take("a"); r.drop(at(2)); r.keep(at(1)) }, 0},
		"a look changed it":               {func(r *recordCache) { r.take("a"); r.keep(at(1)); r.take("a"); r.keep(at(2)) }, 2},
		"the next look went on":           {func(r *recordCache) { r.take("a"); r.keep(at(1)); r.take("a") }, 0},
		"it is over":                      {func(r *recordCache) { r.take("a"); r.keep(at(1)); r.forget("a") }, 0},
		"it is old":                       {func(r *recordCache) { r.take("a"); r.keep(at(1)); time.Sleep(recordAge) }, 0},
		"looks do not make it younger": {func(r *recordCache) {
			r.take("a")
			for range 5 {
				r.keep(at(1))
				r.take("a")
				r.keep(at(1))
				time.Sleep(recordAge / 5)
			}
		}, 0},
		"others take all the room": {func(r *recordCache) {
			for i := range restingMost {
				r.take(strconv.Itoa(i))
			}
			r.take("a")
			r.keep(at(1))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecordCache()
				tc.before(r)
				rec, ok := r.take("a")
				require.Equal(t, tc.kept > 0, ok)
				require.Equal(t, tc.kept, rec.Version)
			})
		})
	}
}

func TestTheFirstStatusDependsOnWhatClowderCanDo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version    int
		waits, how bool
	}{
		"a Clowder that confirms statuses":            {2, true, false},
		"a Clowder whose button reaches only a queue": {1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			rec := jobtest.Record("ft-one", "h1")
			rec.Request.APIVersion = tc.version
			b.sendStart(t.Context(), rec, false)
			require.Equal(t, tc.waits, b.starts.confirm("ft-one", time.Now()), "the next change of the record takes the news")
			require.Equal(t, tc.how, strings.Contains(b.reporter.LastText("ft-one"), ". To stop the job, submit the dataset to ncsa.ray.runs"))
		})
	}
}

func TestTheFirstStatusIsNotedLaterAtMost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.accept(t, "ft-one", nil)
	now := time.Now()
	require.False(t, b.starts.confirm("ft-one", now), "it is written at once where Clowder cannot confirm it")
	b.starts.expect("ft-one")
	require.True(t, b.starts.confirmed("ft-one").IsZero())
	require.True(t, b.starts.confirm("ft-one", now))
	require.False(t, b.starts.confirmed("ft-one").IsZero())
	b.noteStarts(t.Context(), now)
	require.False(t, b.get(t, "ft-one").StartSent, "it may still go with another change")
	b.noteStarts(t.Context(), now.Add(time.Second))
	require.True(t, b.get(t, "ft-one").StartSent)
	require.True(t, b.starts.confirmed("ft-one").IsZero())
	b.noteStarts(t.Context(), now.Add(time.Hour))
	require.Empty(t, b.starts.sent)
}
