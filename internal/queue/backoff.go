package queue

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// healthyAfter is how long a session must have lived until the next reconnect starts with a short wait again.
const healthyAfter = 60 * time.Second

// jitteredBackoff returns the waits between two tries. Each wait is drawn evenly between low and a ceiling that doubles up to a
// maximum. The library's own jitter raises the lower bound as well, so that the processes that lost one broker at the same time
// would come back closer together.
type jitteredBackoff struct {
	low     time.Duration
	ceiling backoff.ExponentialBackOff
	draw    func(n int64) int64
}

func newBackoff(low, high time.Duration) *jitteredBackoff {
	b := &jitteredBackoff{
		low: low, draw: rand.Int64N,
		ceiling: backoff.ExponentialBackOff{InitialInterval: min(2*low, high), Multiplier: 2, MaxInterval: high},
	}
	b.reset()
	return b
}

// next returns the wait before the next try.
func (b *jitteredBackoff) next() time.Duration {
	return b.low + time.Duration(b.draw(int64(b.ceiling.NextBackOff()-b.low)+1))
}

// reset makes the next wait a short one again.
func (b *jitteredBackoff) reset() { b.ceiling.Reset() }

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
