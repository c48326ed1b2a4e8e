package clowder

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// retried calls retry with the default configuration and returns the pauses between the tries.
func retried(ctx context.Context, attempts int, fn func() error) (pauses []time.Duration, err error) {
	c := &Client{cfg: Config{Attempts: attempts}.withDefaults()}
	last := time.Now()
	err = c.retry(ctx, func() error {
		pauses = append(pauses, time.Since(last))
		last = time.Now()
		return fn()
	})
	return pauses[1:], err
}

func TestThePausesOfACallGrowFourfoldUpToALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := job.Retryable(errors.New("down"))
		pauses, err := retried(t.Context(), 7, func() error { return down })
		require.ErrorIs(t, err, down)
		require.Len(t, pauses, 6)
		for i, mean := range []time.Duration{200 * time.Millisecond, 800 * time.Millisecond, 3200 * time.Millisecond, maxPause, maxPause, maxPause} {
			require.GreaterOrEqual(t, pauses[i], mean/2, i)
			require.LessOrEqual(t, pauses[i], mean*3/2+1, i)
		}
	})
}

func TestAPauseThatClowderAsksForIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := errors.New("busy")
		pauses, err := retried(t.Context(), 2, func() error { return job.Later(5*time.Second, busy) })
		require.ErrorIs(t, err, busy)
		require.Equal(t, []time.Duration{5 * time.Second}, pauses)
		pauses, err = retried(t.Context(), 2, func() error { return job.Later(maxPause+1, busy) })
		require.ErrorIs(t, err, busy)
		require.Empty(t, pauses, "a longer pause is left to the caller")
	})
}

func TestACallIsNotRepeatedAfterItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		down := errors.New("down")
		pauses, err := retried(ctx, 4, func() error { return job.Retryable(down) })
		require.ErrorIs(t, err, down, "the caller gets the error of the call")
		require.Empty(t, pauses)
		pauses, err = retried(t.Context(), 4, func() error { return job.Permanent(down) })
		require.ErrorIs(t, err, down)
		require.Empty(t, pauses)
	})
}
