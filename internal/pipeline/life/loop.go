package life

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/clock"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/schedule"
	"github.com/ncsa/clowder-ray/internal/pipeline/slots"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
)

// maxSteps bounds the steps under way, whatever they do; it is more than all stages have room for.
const maxSteps = 256

// Config says what is around a Loop.
type Config struct {
	Store    job.Store
	Clock    *clock.Clock
	Schedule *schedule.Queue
	Slots    *slots.Slots
	Statuses *status.Milestones
	Metrics  *metrics.Metrics
	// Quiet is how long an automatic run waits for more files after each one.
	Quiet time.Duration
	// Resume completes the request of each job that is active at the start, from what earlier requests told.
	Resume func(req *job.Request)
	// Forget is called for a job that is over, before Over.
	Forget func(run string)
	// Over is called when a job has reached a terminal state and nothing is kept of it any more.
	Over func(run string)
	Log  *zap.Logger
}

// Stages are the lives of jobs: the tables by which a job goes on, and its end.
type Stages struct {
	// Jobs is the life of a job, Requests that of a request about another job or a model.
	Jobs, Requests []stage.Stage
	// Ending sends the last status of a job whose end is decided.
	Ending *Ending
}

// Loop works on all jobs at once.
type Loop struct {
	*Commands

	// Stages are set before Run.
	Stages Stages

	cfg     Config
	records *recordCache
	outcome *settler
}

// New returns a loop without stages.
func New(cfg Config) *Loop {
	l := &Loop{
		cfg: cfg, records: newRecordCache(),
		outcome: &settler{store: cfg.Store, statuses: cfg.Statuses, metrics: cfg.Metrics, log: cfg.Log},
	}
	l.Commands = &Commands{store: cfg.Store, schedule: cfg.Schedule, records: l.records, interrupts: newInterrupts()}
	return l
}

// Run works on every active job until ctx ends, and returns when all steps have ended.
func (l *Loop) Run(ctx context.Context) {
	l.cfg.Schedule.Work(ctx, maxSteps, func(run string) { l.work(ctx, run) })
}

// work takes one job as far as it goes by itself and schedules the next step.
func (l *Loop) work(ctx context.Context, run string) {
	wait, over := l.walk(ctx, run)
	if ctx.Err() != nil {
		return
	}
	if !over {
		now := time.Now()
		l.cfg.Schedule.Requeue(run, now, schedule.Together(now, wait))
		return
	}
	l.cfg.Statuses.Forget(run)
	l.records.forget(run)
	l.cfg.Forget(run)
	l.cfg.Clock.Forget(run)
	l.cfg.Slots.Leave(run)
	l.cfg.Schedule.Done(run)
	l.cfg.Over(run)
}

// Lock keeps every worker from a run whose job is over until release is called. It reports false if the run is scheduled or being worked on.
func (l *Loop) Lock(run string) (release func(), held bool) {
	if !l.cfg.Schedule.Reserve(run) {
		return nil, false
	}
	return func() { l.cfg.Schedule.Done(run) }, true
}

// read returns the record of a run, which may be the one of the last look if nothing is known to have changed it since.
func (l *Loop) read(ctx context.Context, run string) (job.Record, error) {
	if rec, ok := l.records.take(run); ok {
		return rec, nil
	}
	return l.cfg.Store.Get(ctx, run)
}

// walk takes a job through its stages until it has to wait, and returns when to come back, or that the job is over. The record is read
// once: a change by others is noticed at the next write, or earlier through the interrupts.
func (l *Loop) walk(ctx context.Context, run string) (wait time.Duration, over bool) {
	interruptible, leave := l.interrupts.enter(ctx, run)
	defer leave()
	rec, err := l.read(ctx, run)
	if errors.Is(err, job.ErrNotFound) { // a message that never became a job, and whose user was told so
		return 0, true
	}
	if err != nil {
		if ctx.Err() == nil {
			l.cfg.Log.Error("read the record", zap.String("run", run), zap.Error(err))
		}
		return stage.WatchPause, false
	}
	for rec.Active() {
		next, wait := l.step(ctx, interruptible, rec)
		if wait > 0 {
			l.records.keep(next)
		}
		if stands := next.Version == rec.Version && next.State == rec.State; wait > 0 || stands || ctx.Err() != nil {
			return wait, !next.Active()
		}
		rec = next
	}
	return 0, true
}

// step runs the stage that is due. It returns the record as it is then and when to come back.
func (l *Loop) step(ctx, interruptible context.Context, rec job.Record) (next job.Record, wait time.Duration) {
	run := rec.Run
	if wait := l.cfg.Clock.Quiet(rec, l.cfg.Quiet); wait > 0 {
		return rec, wait
	}
	if wait := l.cfg.Clock.Rest(rec, stage.MaxPause); wait > 0 && rec.CancelledBy == "" {
		return rec, wait
	}
	if !rec.StartSent && rec.Ending == nil && !l.cfg.Statuses.HasOutbox(run) {
		l.cfg.Statuses.SendStart(ctx, rec, true)
	}
	if wait, ok := l.cfg.Slots.Admit(rec); !ok {
		return rec, wait
	}
	st := l.Stages.due(rec)
	if st.Interruptible {
		ctx = interruptible
	}
	if wait, ok := l.cfg.Slots.Enter(rec, st.Slots, st.OnRay); !ok {
		return rec, wait
	}
	if st.Slots != nil {
		defer st.Slots.Leave(run)
	}
	began := time.Now()
	apply, err := guard(ctx, rec, st, l.cfg.Log)
	if ctx.Err() != nil && err != nil {
		return rec, 0 // interrupted, not failed
	}
	if err == nil {
		l.cfg.Metrics.Stage(rec.State, time.Since(began))
	}
	next, wait = l.outcome.settle(ctx, rec, st, apply, err)
	if err != nil && st.Slots == l.cfg.Slots.Observers {
		wait = max(wait, l.cfg.Slots.Pace())
	}
	return next, wait
}
