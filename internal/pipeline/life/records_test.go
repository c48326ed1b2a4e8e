package life

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
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
