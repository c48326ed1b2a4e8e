package pipeline

import (
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// clock measures how long jobs wait and train. Records hold wall-clock times, and the wall clock may be set at any time. This process
// reads it only when it first sees a job, and from then on uses the monotonic clock.
type clock struct {
	// wall is time.Now, except in tests.
	wall func() time.Time

	mu     sync.Mutex
	starts map[string]start
}

// start is a time in a record, and the same by the clock that is never set.
type start struct{ stored, here time.Time }

func newClock() *clock { return &clock{wall: time.Now, starts: map[string]start{}} }

// here translates a stored wall-clock time into a time of the monotonic clock.
func (c *clock) here(stored time.Time) time.Time { return time.Now().Add(stored.Sub(c.wall())) }

// since returns the monotonic start time for a stored wall-clock start. The first answer is kept. At most unseen is credited as elapsed
// before this process first saw the job, so a clock step alone can never time a job out. A start in the future counts as now.
func (c *clock) since(run string, stored time.Time, unseen time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, known := c.starts[run]
	if !known || !s.stored.Equal(stored) {
		passed := min(max(0, c.wall().Sub(stored)), unseen)
		s = start{stored: stored, here: time.Now().Add(-passed)}
		c.starts[run] = s
	}
	return s.here
}

// rest returns how much longer a job waits after an error. A pause longer than the longest one means that the clock was set back; then
// it waits no longer. A job that has not started waits in the schedule instead.
func (c *clock) rest(rec job.Record) time.Duration {
	left := rec.NotBefore.Sub(c.wall())
	if late(rec) || left > maxPause {
		return 0
	}
	return left
}

// aged reports whether a stored time is at least d away, in the past or, after the clock was set back, in the future.
func (c *clock) aged(stored time.Time, d time.Duration) bool { return c.wall().Sub(stored).Abs() >= d }

// forget drops a run that is over.
func (c *clock) forget(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.starts, run)
}
