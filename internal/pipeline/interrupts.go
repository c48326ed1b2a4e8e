package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results"
)

// Cancel cancels a job on behalf of by. The caller has checked that they may. An error is permanent if the job can no longer be cancelled,
// and wraps job.ErrNotFound if there is none.
func (p *Pipeline) Cancel(ctx context.Context, run, by string) error {
	_, err := p.command(ctx, run, func(r *job.Record) error { return r.Cancel(by) })
	return err
}

// Stop asks a training, on behalf of by, to stop after its present step and to keep its best model; its errors are those of Cancel.
func (p *Pipeline) Stop(ctx context.Context, run, by string) error {
	_, err := p.command(ctx, run, func(r *job.Record) error { return r.Stop(by) })
	return err
}

// command applies a command to the record of a run, and interrupts the stage that is at work on it.
func (p *Pipeline) command(ctx context.Context, run string, apply func(*job.Record) error) (job.Record, error) {
	next, err := p.store.Change(ctx, run, apply)
	if err != nil {
		return job.Record{}, err
	}
	p.records.drop(next)
	p.interrupts.cut(next)
	p.schedule.Add(next.Run)
	return next, nil
}

// recordCache keeps the records of jobs that wait from one look to the next, so that a look at a job to which nothing happens reads nothing from
// the disk. A record that others have changed is dropped as soon as that is known, and any record after restingAge.
type recordCache struct {
	mu   sync.Mutex
	runs map[string]*cachedRecord
}

// cachedRecord is a record and when it was read. It does not count while a worker is on the job, and after one that did not keep it again.
type cachedRecord struct {
	rec   job.Record
	at    time.Time
	taken bool
}

const (
	recordAge   = time.Minute
	restingMost = 1000 // records, of a few kilobytes each
)

func newRecordCache() *recordCache { return &recordCache{runs: map[string]*cachedRecord{}} }

// take returns the record that is kept for run, if it still counts. keep may be called for the job until drop is.
func (r *recordCache) take(run string) (job.Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.runs[run]
	if kept != nil && !kept.taken && time.Since(kept.at) < recordAge {
		kept.taken = true
		return kept.rec, true
	}
	if kept != nil || len(r.runs) < restingMost {
		r.runs[run] = &cachedRecord{taken: true}
	}
	return job.Record{}, false
}

// put keeps the record of a new job for its first look.
func (r *recordCache) put(rec job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.runs[rec.Run]; !ok && len(r.runs) < restingMost {
		r.runs[rec.Run] = &cachedRecord{rec: rec, at: time.Now()}
	}
}

// keep keeps the record of a job that take was called for, unless it was dropped since.
func (r *recordCache) keep(rec job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.runs[rec.Run]
	if kept == nil {
		return
	}
	if kept.rec.Version != rec.Version {
		kept.at = time.Now()
	}
	kept.rec, kept.taken = rec, false
}

// drop forgets the record of a job if rec is another version.
func (r *recordCache) drop(rec job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept, ok := r.runs[rec.Run]; ok && kept.rec.Version != rec.Version {
		delete(r.runs, rec.Run)
	}
}

// forget drops what is kept of a job that is over.
func (r *recordCache) forget(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.runs, run)
}

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

// built returns what collect has built: from memory, or read and built again.
func (p *Pipeline) built(ctx context.Context, rec job.Record) (collected, error) {
	if kept, ok := p.collections.take(rec.Run, rec.Attempt); ok {
		return kept, nil
	}
	result, failure, err := p.result(rec)
	if err != nil {
		return collected{}, err
	}
	model, err := modelOf(rec)
	if err != nil {
		return collected{}, err
	}
	d, err := p.build(ctx, rec, result, model, failure)
	return collected{result: result, failure: failure, delivery: d}, undelivered(failure, err)
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
