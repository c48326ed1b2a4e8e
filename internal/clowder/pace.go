package clowder

import (
	"fmt"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// pace measures how fast a body comes. A watchdog alone is kept quiet for days by a byte every few seconds. Only the time that
// was spent waiting for bytes counts, so that a slow disk here is not blamed on Clowder.
type pace struct {
	least  int64 // bytes per second
	window time.Duration

	waited time.Duration
	bytes  int64
}

// took counts n bytes for which the reader has waited. After each window it is an error when they were too few.
func (p *pace) took(op operation, n int, waited time.Duration) error {
	p.bytes += int64(n)
	if p.waited += waited; p.waited < p.window {
		return nil
	}
	if float64(p.bytes) < float64(p.least)*p.waited.Seconds() {
		return job.Retryable(fmt.Errorf("Clowder sent %s in %s when asked to %s, less than %s a second: it was given up", //nolint:staticcheck // a name
			sizeText(p.bytes), p.waited.Round(time.Second), op.what, sizeText(p.least)))
	}
	p.waited, p.bytes = 0, 0
	return nil
}
