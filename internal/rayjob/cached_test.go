package rayjob_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// counter numbers the fetches, each of which takes a second, and fails in those that have an error.
type counter struct {
	fetches int
	before  []int
	errs    map[int]error
}

func (c *counter) fetch(ctx context.Context, before int) (int, error) {
	c.fetches++
	number := c.fetches
	c.before = append(c.before, before)
	select {
	case <-time.After(time.Second):
		return number, c.errs[number]
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func TestAnAnswerIsSharedAndKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{}
		shared := rayjob.NewCached(time.Minute, c.fetch)
		get := func(want int) {
			got, err := shared.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if got, err := shared.Get(t.Context()); got != 1 || err != nil {
					t.Error(got, err)
				}
			})
		}
		all.Wait()
		<-time.After(time.Minute - time.Nanosecond)
		get(1)
		<-time.After(time.Nanosecond)
		get(2)
		shared.Forget()
		get(3)
		require.Equal(t, []int{0, 1, 2}, c.before, "each fetch knows the answer before")
	})
}

func TestAFailureIsKeptAsWell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		c := &counter{errs: map[int]error{1: broken}}
		shared := rayjob.NewCached(time.Minute, c.fetch)
		for range 3 {
			_, err := shared.Get(t.Context())
			require.ErrorIs(t, err, broken)
		}
		require.Equal(t, 1, c.fetches)
		<-time.After(time.Minute)
		got, err := shared.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, got)
	})
}

func TestWhoGivesUpLeavesTheFetchToAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{}
		shared := rayjob.NewCached(time.Minute, c.fetch)
		var all sync.WaitGroup
		giveUpAfter := func(timeout time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			_, err := shared.Get(ctx)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		all.Go(func() { giveUpAfter(500 * time.Millisecond) })
		synctest.Wait() // the first is at work
		all.Go(func() { giveUpAfter(100 * time.Millisecond) })
		all.Go(func() {
			if got, err := shared.Get(t.Context()); got != 2 || err != nil {
				t.Error(got, err)
			}
		})
		all.Wait()
		require.Equal(t, 2, c.fetches)
	})
}

func TestACallerMayWantAYoungerAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		c := &counter{errs: map[int]error{4: broken}}
		shared := rayjob.NewCached(time.Minute, c.fetch)
		younger := func(maxAge time.Duration) int {
			got, err := shared.Younger(t.Context(), maxAge)
			require.NoError(t, err)
			return got
		}
		require.Equal(t, 1, younger(20*time.Second))
		<-time.After(20*time.Second - time.Nanosecond)
		require.Equal(t, 1, younger(20*time.Second))
		<-time.After(time.Nanosecond)
		require.Equal(t, 2, younger(20*time.Second))
		require.Equal(t, 2, younger(0), "a fetch takes a second, so the next one waits for nine")
		<-time.After(9 * time.Second)
		require.Equal(t, 3, younger(0))
		<-time.After(time.Minute)
		for range 2 {
			_, err := shared.Younger(t.Context(), time.Hour)
			require.ErrorIs(t, err, broken, "nobody gets an older answer than the others")
			<-time.After(time.Minute - time.Second)
		}
		require.Equal(t, 4, c.fetches, "a failure is kept for the whole time")
	})
}
