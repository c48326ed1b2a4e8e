package schedule

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/test/bubble"
)

func TestMain(m *testing.M) {
	bubble.OneProcessor()
	goleak.VerifyTestMain(m)
}

var began = time.Now()

// at is a moment by its number: n hours after the tests began.
func at(n int) time.Time { return began.Add(time.Duration(n) * time.Hour) }

// next takes the run that is due, or none.
func next(q *Queue, now time.Time) string {
	run, _, _ := q.get(now)
	return run
}

func TestARunIsInOnePlaceAtATime(t *testing.T) {
	t.Parallel()
	q := New()
	q.AddAt("late", at(10))
	q.Add("now")
	q.Add("now")
	require.Equal(t, "now", next(q, at(1)))
	_, wait, ok := q.get(at(1))
	require.False(t, ok)
	require.Equal(t, 9*time.Hour, wait)
	q.Add("now") // while a worker has it
	require.Empty(t, next(q, at(1)))
	q.Requeue("now", at(1), time.Hour)
	require.Equal(t, "now", next(q, at(1)), "it was added meanwhile")
	q.Done("now")
	require.False(t, q.Has("now"))
	q.Add("late")
	require.Equal(t, "late", next(q, at(1)))
}

// A job that waited for its turn is not passed by all jobs that come in the meantime.
func TestRunsAreTakenInTheOrderInWhichTheyBecameDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New()
		q.Add("old")
		require.Equal(t, "old", next(q, time.Now()))
		q.Requeue("old", time.Now(), time.Second)
		for _, run := range []string{"new-1", "new-2", "new-3"} {
			time.Sleep(400 * time.Millisecond)
			q.Add(run)
		}
		time.Sleep(time.Minute)
		var order []string
		for range 4 {
			order = append(order, next(q, time.Now()))
		}
		require.Equal(t, []string{"new-1", "new-2", "old", "new-3"}, order)
	})
}

func TestLongWaitsEndTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ now, wait, want time.Duration }{
		"a short wait stays":                     {30 * time.Millisecond, 999 * time.Millisecond, 999 * time.Millisecond},
		"one that ends at such a moment stays":   {0, 2 * time.Second, 2 * time.Second},
		"one that ends just after it is cut":     {time.Millisecond, 2 * time.Second, 2*time.Second - time.Millisecond},
		"one that ends just before it is longer": {249 * time.Millisecond, time.Second, time.Second + time.Millisecond},
		"none moves by more than half of that":   {124 * time.Millisecond, time.Minute, time.Minute - 124*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, Together(time.Unix(1, 0).Add(tc.now), tc.wait))
		})
	}
	now := time.Now() // which also has a reading of the clock that is never set
	for range 100 {
		end := now.Add(Together(now, 2*time.Second))
		require.Zero(t, end.UnixNano()%int64(grid))
		now = now.Add(7 * time.Millisecond)
	}
}

func TestAReservedRunIsGivenToNoWorker(t *testing.T) {
	t.Parallel()
	q := New()
	q.Add("busy")
	require.False(t, q.Reserve("busy"))
	require.True(t, q.Reserve("over"))
	require.False(t, q.Reserve("over"))
	q.Add("over") // its job is retried
	q.Done("over")
	require.Equal(t, "busy", next(q, at(1)))
	require.Equal(t, "over", next(q, at(1)))

	require.True(t, q.Reserve("resumed"))
	q.AddAt("resumed", at(10))
	q.Done("resumed")
	require.Equal(t, "resumed", next(q, at(1)), "what is added while it is reserved is not forgotten")
	q.Done("resumed")

	require.True(t, q.Reserve("quiet"))
	q.Done("quiet")
	require.False(t, q.Has("quiet"))
}

func TestWorkersGetRunsWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, began := New(), time.Now()
		q.AddAt("later", began.Add(time.Minute))
		q.Add("first")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		type call struct {
			run   string
			after time.Duration
		}
		var calls []call
		q.Work(ctx, 1, func(run string) {
			calls = append(calls, call{run, time.Since(began)})
			switch len(calls) {
			case 1:
				q.Requeue(run, time.Now(), time.Second)
			case 2:
				q.Done(run)
			default:
				cancel()
			}
		})
		require.Equal(t, []call{{"first", 0}, {"first", time.Second}, {"later", time.Minute}}, calls)
	})
}

func TestWorkWaitsForItsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New()
		q.Add("slow")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ended := false
		q.Work(ctx, 4, func(string) {
			<-time.After(time.Minute)
			ended = true
		})
		require.True(t, ended)
	})
}

func TestWorkersOfABurstGoAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst, workers = 500, 100
		var now, most, done atomic.Int64
		c := &workerGroup{most: workers, handed: make(chan string), do: func(string) {
			most.Store(max(most.Load(), now.Add(1)))
			<-time.After(time.Second)
			now.Add(-1)
			done.Add(1)
		}}
		for range burst {
			c.give("run")
		}
		<-time.After(time.Minute)
		synctest.Wait()
		require.EqualValues(t, burst, done.Load())
		require.EqualValues(t, workers, most.Load())
		require.EqualValues(t, lingering, c.working.Load())
		c.give("later")
		synctest.Wait()
		require.EqualValues(t, lingering, c.working.Load(), "one that waited has it")
		c.end()
		require.EqualValues(t, burst+1, done.Load())
		require.Zero(t, c.working.Load())
	})
}
