// Package clock measures how long jobs wait and train, whatever happens to the wall clock.
//
// Records hold wall-clock times, and the wall clock may be set at any time. This process reads it only when it first sees a job, and from
// then on uses the monotonic clock. So a clock that is set never ends a job and never makes a wait longer than the longest one of its kind.
// The package knows records and nothing of stages, queues or statuses. It writes nothing, so a kill loses only what it has measured.
package clock

import (
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Clock keeps the times of the jobs that are not over. It is safe for concurrent use.
type Clock struct {
	// Wall is time.Now, except in tests.
	Wall func() time.Time

	mu     sync.Mutex
	starts map[string]start
}

// start is a time in a record, and the same by the clock that is never set.
type start struct{ stored, here time.Time }

// New returns a clock that has seen no job.
func New() *Clock { return &Clock{Wall: time.Now, starts: map[string]start{}} }

// Here translates a stored wall-clock time into a time of the monotonic clock.
func (c *Clock) Here(stored time.Time) time.Time { return time.Now().Add(stored.Sub(c.Wall())) }

// Since returns the monotonic start time for a stored wall-clock start. The first answer is kept. At most unseen is credited as elapsed
// before this process first saw the job, so a clock step alone can never time a job out. A start in the future counts as now.
func (c *Clock) Since(run string, stored time.Time, unseen time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, known := c.starts[run]
	if !known || !s.stored.Equal(stored) {
		passed := min(max(0, c.Wall().Sub(stored)), unseen)
		s = start{stored: stored, here: time.Now().Add(-passed)}
		c.starts[run] = s
	}
	return s.here
}

// Rest returns how much longer a job waits after an error. A pause longer than longest means that the clock was set back; then the job
// waits no longer. A job that has not started waits in the schedule instead.
func (c *Clock) Rest(rec job.Record, longest time.Duration) time.Duration {
	left := rec.NotBefore.Sub(c.Wall())
	if Late(rec) || left > longest {
		return 0
	}
	return left
}

// Quiet returns how much longer an automatic run waits for more files, each of which lets it wait for period. After the clock was set back
// the run waits at most one more period at a time.
func (c *Clock) Quiet(rec job.Record, period time.Duration) time.Duration {
	if len(rec.Request.Announced) == 0 || !Late(rec) || rec.Ending != nil {
		return 0
	}
	return min(rec.NotBefore.Sub(c.Wall()), period)
}

// Aged reports whether a stored time is at least d away, in the past or, after the clock was set back, in the future.
func (c *Clock) Aged(stored time.Time, d time.Duration) bool { return c.Wall().Sub(stored).Abs() >= d }

// Forget drops a run that is over.
func (c *Clock) Forget(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.starts, run)
}

// Late reports whether the start of the job is delayed, because its user submitted very many or because more files may come.
func Late(rec job.Record) bool {
	return rec.State == job.Accepted && rec.Failures == 0 && !rec.NotBefore.IsZero() && rec.CancelledBy == ""
}
