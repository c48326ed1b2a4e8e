package queue

import (
	"context"
	"math/rand/v2"
	"time"
)

// healthyAfter is how long a session must have lived for the trouble before it to be forgotten.
const healthyAfter = 60 * time.Second

// backoff makes the waits between two tries: each drawn evenly between low and a ceiling that doubles up to high, so that
// many processes that lost one broker do not come back in step.
type backoff struct {
	low, high time.Duration
	tries     int
	draw      func(n int64) int64
}

func newBackoff(low, high time.Duration) *backoff {
	return &backoff{low: low, high: high, draw: rand.Int64N}
}

// next returns the wait before the next try.
func (b *backoff) next() time.Duration {
	ceiling := b.low
	for i := 0; i <= b.tries && ceiling < b.high; i++ {
		ceiling *= 2
	}
	ceiling = min(ceiling, b.high)
	b.tries++
	return b.low + time.Duration(b.draw(int64(ceiling-b.low)+1))
}

// reset makes the next wait a short one again.
func (b *backoff) reset() { b.tries = 0 }

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
