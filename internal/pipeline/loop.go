package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/schedule"
)

// rescan is how soon a change by another process, such as a cancellation on the command line, is seen.
const rescan = time.Second

// lookForChanges wakes the jobs that another process changed.
func (p *Pipeline) lookForChanges(ctx context.Context) {
	ticker := time.NewTicker(rescan)
	defer ticker.Stop()
	// Nothing falls between the start and the first look. As other processes write it, a time is of the wall clock alone.
	seen := p.clock.wall().Add(-rescan).Round(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.noteStarts(ctx, time.Now().Add(-startNoted))
		if now := p.clock.wall(); now.Before(seen) { // it was set back, and changes are older than those seen before
			seen = now.Add(-2 * rescan)
		}
		changed, err := p.store.List(ctx, job.Query{Active: true, ChangedAfter: seen})
		if err != nil {
			p.log.Warn("look for changed jobs", zap.Error(err))
			continue
		}
		for _, rec := range changed {
			p.records.drop(rec)
			if rec.CancelledBy != "" || !p.schedule.Has(rec.Run) {
				p.interrupts.cut(rec)
				p.schedule.Add(rec.Run)
			}
			if rec.Updated.After(seen) {
				seen = rec.Updated
			}
		}
	}
}

// work takes one job as far as it goes by itself and schedules the next step.
func (p *Pipeline) work(ctx context.Context, run string) {
	wait, over := p.walk(ctx, run)
	if ctx.Err() != nil {
		return
	}
	if !over {
		now := time.Now()
		p.schedule.Requeue(run, now, schedule.Together(now, wait))
		return
	}
	p.reporter.Forget(run)
	p.follower.Forget(run)
	p.records.forget(run)
	p.collections.forget(run)
	p.starts.forget(run)
	p.objects.Forget(run)
	p.clock.forget(run)
	for _, g := range p.queues {
		g.Leave(run)
	}
	p.inProgress.Leave(run)
	p.activeJobs.Remove(run)
	p.activeRequests.Remove(run)
	p.schedule.Done(run)
	if p.cfg.Over != nil {
		p.cfg.Over(run)
	}
	p.signalIntakes()
}

// signalIntakes wakes the intakes, because they may be able to take more jobs.
func (p *Pipeline) signalIntakes() {
	for _, in := range p.intakes {
		in.signal()
	}
}

// SetAdmission allows the intakes to take jobs, or leaves all jobs in RabbitMQ while they cannot be served.
func (p *Pipeline) SetAdmission(open bool) {
	p.closed.Store(!open)
	p.signalIntakes()
}

// Lock keeps every worker from a run whose job is over until release is called. It reports false if the run is scheduled or being worked on.
func (p *Pipeline) Lock(run string) (release func(), held bool) {
	if !p.schedule.Reserve(run) {
		return nil, false
	}
	return func() { p.schedule.Done(run) }, true
}

// read returns the record of a run, which may be the one of the last look if nothing is known to have changed it since.
func (p *Pipeline) read(ctx context.Context, run string) (job.Record, error) {
	if rec, ok := p.records.take(run); ok {
		return rec, nil
	}
	return p.store.Get(ctx, run)
}

// walk takes a job through its stages until it has to wait, and returns when to come back, or that the job is over. The record is read
// once: a change by others is noticed at the next write, or earlier through the interrupts.
func (p *Pipeline) walk(ctx context.Context, run string) (wait time.Duration, over bool) {
	interruptible, leave := p.interrupts.enter(ctx, run)
	defer leave()
	rec, err := p.read(ctx, run)
	if errors.Is(err, job.ErrNotFound) { // a message that never became a job, and whose user was told so
		return 0, true
	}
	if err != nil {
		if ctx.Err() == nil {
			p.log.Error("read the record", zap.String("run", run), zap.Error(err))
		}
		return watchPause, false
	}
	for rec.Active() {
		next, wait := p.step(ctx, interruptible, rec)
		if wait > 0 {
			p.records.keep(next)
		}
		if stands := next.Version == rec.Version && next.State == rec.State; wait > 0 || stands || ctx.Err() != nil {
			return wait, !next.Active()
		}
		rec = next
	}
	return 0, true
}

// step runs the stage that is due. It returns the record as it is then and when to come back.
func (p *Pipeline) step(ctx, interruptible context.Context, rec job.Record) (next job.Record, wait time.Duration) {
	run := rec.Run
	if wait := p.quiet(rec); wait > 0 {
		return rec, wait
	}
	if wait := p.clock.rest(rec); wait > 0 && rec.CancelledBy == "" {
		return rec, wait
	}
	if !rec.StartSent && rec.Ending == nil && !p.reporter.HasOutbox(run) {
		p.sendStart(ctx, rec, true)
	}
	if wait, ok := p.admit(rec); !ok {
		return rec, wait
	}
	st := p.due(rec)
	if st.interruptible {
		ctx = interruptible
	}
	if wait, ok := p.enter(rec, st); !ok {
		return rec, wait
	}
	if st.slots != nil {
		defer st.slots.Leave(run)
	}
	began := time.Now()
	apply, err := p.guard(ctx, rec, st)
	if ctx.Err() != nil && err != nil {
		return rec, 0 // interrupted, not failed
	}
	if err == nil {
		p.metrics.stage(rec.State, time.Since(began))
	}
	next, wait = p.settle(ctx, rec, st, apply, err)
	if err != nil && st.slots == p.observers {
		wait = max(wait, p.pace())
	}
	return next, wait
}

// due picks the stage of a job: its end and its cancellation come before the list.
func (p *Pipeline) due(rec job.Record) stage {
	switch {
	case rec.Ending != nil:
		return stage{run: p.finish, tries: int(giveUpAfter / maxPause), pause: maxPause}
	case rec.CancelledBy != "":
		return stage{run: p.cancel, tries: 1}
	}
	stages := p.stages
	if rec.Kind == job.Runs {
		stages = p.requests
	}
	for _, st := range stages {
		if st.from == rec.State {
			return st
		}
	}
	return stage{run: func(context.Context, job.Record) (change, error) {
		return nil, job.Permanent(fmt.Errorf("the record is in an unknown state %q", rec.State))
	}}
}

// guard runs a stage; a panic in it fails this job and no other.
func (p *Pipeline) guard(ctx context.Context, rec job.Record, st stage) (apply change, err error) {
	defer func() {
		if v := recover(); v != nil {
			p.log.Error("panic in a stage", zap.String("run", rec.Run), zap.Any("panic", v), zap.ByteString("stack", debug.Stack()))
			err = job.Permanent(errors.New("an internal error ended this job: report it to the administrator of the extractor"))
		}
	}()
	return st.run(ctx, rec)
}
