package pipeline

import (
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// clock measures how long jobs wait and train. Records tell times of the wall clock, which may be set by an hour at any moment.
// This process asks that one only when it first sees a job; from then on it counts by the clock of the machine that is never set.
type clock struct {
	// wall is time.Now, except in tests.
	wall func() time.Time

	mu     sync.Mutex
	starts map[string]start
}

// start is a time in a record, and the same by the clock that is never set.
type start struct{ stored, here time.Time }

func newClock() *clock { return &clock{wall: time.Now, starts: map[string]start{}} }

// here translates a time in a record as the wall clock stands now.
func (c *clock) here(stored time.Time) time.Time { return time.Now().Add(stored.Sub(c.wall())) }

// since returns when that began which a record says began at stored; the first answer about it stands. At most so much of it as
// unseen is believed to have passed before, so that a clock which was set ends nothing of which this process has not seen a part
// itself. What is to begin in the future begins now.
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

// rest is how much longer a job that met an error is left alone. More than the longest pause was never meant: the clock was set
// back since. The schedule alone keeps a job that has not begun, from its own start of the time on.
func (c *clock) rest(rec job.Record) time.Duration {
	left := rec.NotBefore.Sub(c.wall())
	if late(rec) || left > maxPause {
		return 0
	}
	return left
}

// aged reports whether a time in a record is at least d away, be it in the future since the clock was set back.
func (c *clock) aged(stored time.Time, d time.Duration) bool { return c.wall().Sub(stored).Abs() >= d }

// forget drops a run that is over.
func (c *clock) forget(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.starts, run)
}
