package life

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/schedule"
)

// Commands apply what people decide about jobs, also while a stage is at work on them.
type Commands struct {
	store      job.Store
	schedule   *schedule.Queue
	records    *recordCache
	interrupts *interrupts
}

// Cancel cancels a job on behalf of by. The caller has checked that they may. An error is permanent if the job can no longer be cancelled,
// and wraps job.ErrNotFound if there is none.
func (c *Commands) Cancel(ctx context.Context, run, by string) error {
	_, err := c.Command(ctx, run, func(r *job.Record) error { return r.Cancel(by) })
	return err
}

// Stop asks a training, on behalf of by, to stop after its present step and to keep its best model; its errors are those of Cancel.
func (c *Commands) Stop(ctx context.Context, run, by string) error {
	_, err := c.Command(ctx, run, func(r *job.Record) error { return r.Stop(by) })
	return err
}

// Command applies a command to the record of a run, and interrupts the stage that is at work on it.
func (c *Commands) Command(ctx context.Context, run string, apply func(*job.Record) error) (job.Record, error) {
	next, err := c.store.Change(ctx, run, apply)
	if err != nil {
		return job.Record{}, err
	}
	c.records.drop(next)
	c.interrupts.cut(next)
	c.schedule.Add(next.Run)
	return next, nil
}
