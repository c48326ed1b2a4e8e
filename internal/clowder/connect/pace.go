package connect

import (
	"fmt"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Pace measures the rate of a download, because a watchdog alone would accept one byte every few seconds for days. Only the time spent
// waiting for bytes counts, so that a slow local disk does not count against Clowder.
type Pace struct {
	// Least is the smallest rate in bytes per second, over each Window of waiting.
	Least  int64
	Window time.Duration

	waited time.Duration
	bytes  int64
}

// Took counts n bytes and the time that the reader waited for them. After each window it returns an error if there were too few. what is the
// download, as in "asked to download".
func (p *Pace) Took(what string, n int, waited time.Duration) error {
	p.bytes += int64(n)
	if p.waited += waited; p.waited < p.Window {
		return nil
	}
	if float64(p.bytes) < float64(p.Least)*p.waited.Seconds() {
		return job.Retryable(fmt.Errorf("Clowder sent %s in %s when asked to %s, which is less than %s per second", //nolint:staticcheck // a name
			text.Bytes(p.bytes), text.Duration(p.waited), what, text.Bytes(p.Least)))
	}
	p.waited, p.bytes = 0, 0
	return nil
}
