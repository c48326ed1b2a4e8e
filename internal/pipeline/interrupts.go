package pipeline

import (
	"context"
	"errors"
	"sync"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Cancel cancels a job on behalf of by. The caller has checked that they may. An error is permanent if the job can no longer be cancelled,
// and wraps job.ErrNotFound if there is none.
func (p *Pipeline) Cancel(ctx context.Context, run, by string) error {
	_, err := p.command(ctx, run, func(r *job.Record) error { return r.Cancel(by) })
	return err
}

// Stop asks a training, on behalf of by, to stop after its present step and to keep its best model; its errors are those of Cancel.
func (p *Pipeline) Stop(ctx context.Context, run, by string) error {
	_, err := p.command(ctx, run, func(r *job.Record) error { return p.cfg.Extractors.Stop(r, by) })
	return err
}

// command applies a command to the record of a run, and interrupts the stage that is at work on it.
func (p *Pipeline) command(ctx context.Context, run string, apply func(*job.Record) error) (job.Record, error) {
	next, err := p.store.Change(ctx, run, apply)
	if err != nil {
		return job.Record{}, err
	}
	p.interrupts.cut(next)
	p.schedule.Add(next.Run)
	return next, nil
}

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
