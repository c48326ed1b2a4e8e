package deliver

import (
	"sync"

	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results"
)

// collected is what a run hands over, as collect has verified and built it.
type collected struct {
	attempt  int
	result   *results.Result
	failure  string
	delivery platform.Delivery
	// planned says that the record of the job has the plan of the delivery, from this process.
	planned bool
}

// collections keeps what collect has built until upload takes it, which so reads and hashes nothing again. Without it, as after a restart,
// upload does both.
type collections struct {
	mu   sync.Mutex
	runs map[string]collected
}

// mostCollected bounds the results in memory: those of jobs that wait for a turn to upload are read again.
const mostCollected = 32

func (c *collections) keep(run string, what collected) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[string]collected{}
	}
	if len(c.runs) < mostCollected {
		c.runs[run] = what
	}
}

// take returns what collect has built for an attempt, once.
func (c *collections) take(run string, attempt int) (collected, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what, ok := c.runs[run]
	delete(c.runs, run)
	return what, ok && what.attempt == attempt
}

func (c *collections) forget(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, run)
}
