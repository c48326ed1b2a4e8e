package life

import (
	"context"
	"errors"
	"sync"

	"github.com/ncsa/clowder-ray/internal/job"
)

// errCutShort is the cause with which the context of a stage ends when its job is cancelled meanwhile.
var errCutShort = errors.New("the job was cancelled meanwhile")

// interrupts lets a cancellation reach the stage that is at work on its job, such as a download of hours.
type interrupts struct {
	mu   sync.Mutex
	runs map[string]context.CancelCauseFunc
}

func newInterrupts() *interrupts { return &interrupts{runs: map[string]context.CancelCauseFunc{}} }

// enter returns a context for the step that starts on run; leave ends it. It is called before the record is read, so that a cancellation
// is seen either in the record or through the context.
func (i *interrupts) enter(ctx context.Context, run string) (_ context.Context, leave func()) {
	ctx, cut := context.WithCancelCause(ctx)
	i.mu.Lock()
	i.runs[run] = cut
	i.mu.Unlock()
	return ctx, func() {
		i.mu.Lock()
		delete(i.runs, run)
		i.mu.Unlock()
		cut(nil)
	}
}

// cut ends the context of the step on a job that was cancelled and is not ending yet.
func (i *interrupts) cut(rec job.Record) {
	if rec.CancelledBy == "" || rec.Ending != nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if cut := i.runs[rec.Run]; cut != nil {
		cut(errCutShort)
	}
}
