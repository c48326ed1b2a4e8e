package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
)

// ErrStopping is the cause with which the work context ends when the service stops: nothing failed, the jobs go on.
var ErrStopping = errors.New("the service is stopping")

// Config is what an operator decides about the life of a job.
type Config struct {
	// Instance and Queue go into the name of a run, so that two services never share one.
	Instance string
	Queue    string
	// Volume is where the runs, the cache and the models lie.
	Volume Volume
	// MaxJobs bounds the jobs in hand; MaxDownloads and MaxUploads those that move data at this moment. They are apart so
	// that a new job never waits for the results of others.
	MaxJobs      int
	MaxDownloads int
	MaxUploads   int
	// MaxRetry bounds the tries of a stage, MaxAttempts those of a training that Ray lost.
	MaxRetry    int
	MaxAttempts int
	// Poll is the time between two looks at a running training.
	Poll time.Duration
	// PendingTimeout and StallTimeout end a training that does not start and one that says nothing any more.
	PendingTimeout time.Duration
	StallTimeout   time.Duration
	// Attempt holds what all attempts share: the interpreter, the trainer and its environment.
	Attempt rayjob.Attempt
	// Version is this program's, for the report.
	Version string
	// Watch, where given, sees every look at a running job.
	Watch func(run string, p results.Progress)
	// Over, where given, is called when a job has reached a terminal state.
	Over func(run string)
}

// Pipeline takes every job from its message to its last status.
type Pipeline struct {
	cfg      Config
	info     *clowder.Info
	store    job.Store
	backend  rayjob.Backend
	platform Platform
	log      *zap.Logger
	metrics  *Metrics

	stages   []stage
	schedule *schedule
	reporter *reporter
	follower *follower
	freed    chan struct{}
}

// stage takes a job from one state to the next. Its run function looks before it repeats an outside effect and returns the
// change to make in the record once the effect is certain.
type stage struct {
	from job.State
	run  func(ctx context.Context, rec job.Record) (change, error)
	// slots bounds how many jobs are in the stage at once; nil does not.
	slots chan struct{}
	// tries bounds how often the stage may fail for a passing reason, pause how long it waits between two tries.
	tries int
	pause time.Duration
}

// change alters the record after a stage did its work.
type change func(*job.Record) error

// patience is how long a training that runs or has finished waits for a Ray or a Clowder that is down.
const patience = 3 * 24 * time.Hour

// New wires a pipeline. Run starts it.
func New(cfg Config, info *clowder.Info, store job.Store, backend rayjob.Backend, platform Platform, voice Voice,
	metrics *Metrics, log *zap.Logger,
) *Pipeline {
	p := &Pipeline{
		cfg: cfg, info: info, store: store, backend: backend, platform: platform, metrics: metrics, log: log.Named("pipeline"),
		schedule: newSchedule(), follower: newFollower(cfg.Volume), freed: make(chan struct{}, 1),
	}
	p.reporter = newReporter(voice, p.log, p.said)

	downloads, uploads := make(chan struct{}, max(1, cfg.MaxDownloads)), make(chan struct{}, max(1, cfg.MaxUploads))
	few, watching, delivering := cfg.MaxRetry, int(patience/watchPause), int(patience/maxPause)

	// The life of a job.
	p.stages = []stage{
		{from: job.Accepted, run: p.stageInputs, slots: downloads, tries: few, pause: maxPause},
		{from: job.Staged, run: p.submit, tries: few, pause: maxPause},
		{from: job.Submitted, run: p.watch, tries: watching, pause: watchPause},
		{from: job.Running, run: p.watch, tries: watching, pause: watchPause},
		{from: job.Finished, run: p.collect, tries: few, pause: maxPause},
		{from: job.Collected, run: p.upload, slots: uploads, tries: delivering, pause: maxPause},
	}
	return p
}

// Run works on every job that is not over until ctx ends, and returns when all work in hand has stopped. Trainings on Ray
// go on; the next Run finds them again.
func (p *Pipeline) Run(ctx context.Context) error {
	active, err := p.store.List(ctx, job.Query{Active: true})
	if err != nil {
		return err
	}
	for _, rec := range active {
		p.schedule.touch(rec.Run)
	}
	if len(active) > 0 {
		p.log.Info("jobs found again", zap.Int("jobs", len(active)))
	}

	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { p.reporter.Run(ctx) })
	wg.Go(func() { p.lookForChanges(ctx) })

	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		run, wait, ok := p.schedule.take(time.Now())
		if ok {
			wg.Go(func() { p.work(ctx, run) })
			continue
		}
		if wait > 0 {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.schedule.wake:
		case <-timer.C:
		}
	}
}

// rescan is how soon a change by another process, such as a cancellation on the command line, is seen.
const rescan = time.Second

// lookForChanges wakes the jobs that another process changed.
func (p *Pipeline) lookForChanges(ctx context.Context) {
	ticker := time.NewTicker(rescan)
	defer ticker.Stop()
	seen := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		changed, err := p.store.List(ctx, job.Query{Active: true, ChangedAfter: seen})
		if err != nil {
			p.log.Warn("look for changed jobs", zap.Error(err))
			continue
		}
		for _, rec := range changed {
			if rec.CancelledBy != "" || !p.schedule.has(rec.Run) {
				p.schedule.touch(rec.Run)
			}
			if rec.Updated.After(seen) {
				seen = rec.Updated
			}
		}
	}
}

// work takes one job one step further and schedules the next step.
func (p *Pipeline) work(ctx context.Context, run string) {
	wait, over := p.step(ctx, run)
	if ctx.Err() != nil {
		return
	}
	if !over {
		p.schedule.put(run, time.Now(), wait)
		return
	}
	p.reporter.forget(run)
	p.follower.forget(run)
	p.schedule.drop(run)
	if p.cfg.Over != nil {
		p.cfg.Over(run)
	}
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// step runs the stage that is due and says when to come back, or that the job is over.
func (p *Pipeline) step(ctx context.Context, run string) (wait time.Duration, over bool) {
	rec, err := p.store.Get(ctx, run)
	if err != nil {
		p.log.Error("read the record", zap.String("run", run), zap.Error(err))
		return maxPause, errors.Is(err, job.ErrNotFound)
	}
	if !rec.Active() {
		return 0, true
	}
	if wait := time.Until(rec.NotBefore); wait > 0 && rec.CancelledBy == "" {
		return wait, false
	}
	if !rec.Greeted && !p.reporter.knows(run) {
		p.greet(ctx, rec, true)
	}
	st := p.due(rec)
	if st.slots != nil {
		select {
		case st.slots <- struct{}{}:
			defer func() { <-st.slots }()
		case <-ctx.Done():
			return 0, false
		}
	}
	began := time.Now()
	apply, err := p.guard(ctx, rec, st)
	if ctx.Err() != nil && !errors.Is(err, nil) {
		return 0, false // interrupted, not failed
	}
	if err == nil {
		p.metrics.stage(rec.State, time.Since(began))
	}
	return p.settle(ctx, rec, st, apply, err)
}

// due picks the stage of a job: its end and its cancellation come before the list.
func (p *Pipeline) due(rec job.Record) stage {
	switch {
	case rec.Ending != nil:
		return stage{run: p.tell, tries: int(patience / maxPause), pause: maxPause}
	case rec.CancelledBy != "":
		return stage{run: p.cancel, tries: 1}
	}
	for _, st := range p.stages {
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
			err = job.Permanent(errors.New("an internal error ended this job: please tell the operator of the extractor"))
		}
	}()
	return st.run(ctx, rec)
}

// The pauses between two tries of a stage double from the first to the longest. They need no jitter, since one process owns
// all jobs.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 5 * time.Minute
	watchPause = 30 * time.Second
	// storeTimeout bounds one write to the store, other processes that hold it included.
	storeTimeout = 15 * time.Second
)

// settle writes what a stage came to and says when the job is due again.
func (p *Pipeline) settle(ctx context.Context, rec job.Record, st stage, apply change, err error) (time.Duration, bool) {
	// A stop must not cut off the write that says what has already happened.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()

	kind, after := job.KindRetryable, time.Duration(0)
	if err != nil {
		kind, after = job.Classify(err)
	}
	wait := time.Duration(0)
	switch {
	case err == nil:
	case kind == job.KindLater:
		p.misset(ctx, rec, err)
		return after, false
	case kind == job.KindPermanent:
		_, bad := errors.AsType[*inputError](err)
		apply = func(r *job.Record) error {
			r.End(job.Failed, err.Error())
			r.Ending.BadInput = bad
			return nil
		}
	case rec.Failures+1 >= max(1, st.tries):
		apply = func(r *job.Record) error {
			r.End(job.Failed, fmt.Sprintf("%s (given up after %s)", err, count(rec.Failures+1, "time")))
			return nil
		}
	default:
		wait = min(st.pause, firstPause<<min(rec.Failures, 20))
		apply = func(r *job.Record) error { r.Postpone(time.Now().Add(wait), err.Error()); return nil }
		p.trouble(rec, err, wait)
	}
	next, werr := p.store.Change(ctx, rec.Run, apply)
	if werr != nil {
		p.log.Error("write the record", zap.String("run", rec.Run), zap.Error(werr))
		return firstPause, false
	}
	if next.State != rec.State || next.Attempt != rec.Attempt || (next.Ending != nil) != (rec.Ending != nil) {
		p.note(rec, next)
	}
	return wait, !next.Active()
}

// inputError marks an error that the user's data or settings are to blame for.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// badInput blames the user's data or settings for a permanent error; another one stays as it is.
func badInput(err error) error {
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return &inputError{err}
	}
	return err
}

// trouble logs a passing error and tells the user once it has come twice in a row.
func (p *Pipeline) trouble(rec job.Record, err error, wait time.Duration) {
	p.metrics.retried(rec.State)
	if rec.LastError != err.Error() {
		p.log.Warn("will try again", zap.String("run", rec.Run), zap.String("state", string(rec.State)),
			zap.Int("failures", rec.Failures+1), zap.Duration("wait", wait), zap.Error(err))
	}
	if rec.Failures >= 1 {
		p.say(rec, fmt.Sprintf("%s; trying again in %s", err, duration(wait)))
	}
}

// misset tells the operator once, and the user, of a setting that keeps the job waiting.
func (p *Pipeline) misset(ctx context.Context, rec job.Record, err error) {
	setting, ok := errors.AsType[*rayjob.SettingError](err)
	if !ok || rec.LastError == setting.Error() {
		return
	}
	p.log.Error("a setting keeps jobs waiting", zap.String("run", rec.Run), zap.String("setting", setting.Setting), zap.Error(setting))
	p.say(rec, "Waiting for the operator of the extractor to mend its connection to Ray")
	_, err = p.store.Change(ctx, rec.Run, func(r *job.Record) error { r.LastError = setting.Error(); return nil })
	if err != nil {
		p.log.Error("write the record", zap.String("run", rec.Run), zap.Error(err))
	}
}

// note logs a change of state.
func (p *Pipeline) note(old, next job.Record) {
	p.metrics.moved(old.State, next.State)
	fields := []zap.Field{
		zap.String("run", next.Run), zap.String("job_id", next.Request.JobID), zap.String("state", string(next.State)),
		zap.Int("attempt", next.Attempt),
	}
	if next.Ending != nil {
		fields = append(fields, zap.String("ending", string(next.Ending.State)), zap.String("text", next.Ending.Text))
	}
	p.log.Info("job", fields...)
}

// say queues a sentence about what the service is doing; it is never lost twice in a row but may be skipped.
func (p *Pipeline) say(rec job.Record, text string) {
	p.reporter.say(rec.Run, rec.Request, clowder.Status{Kind: clowder.StatusProcessing, Text: capital(text), At: time.Now()})
}

// Free is how many more jobs may be taken in; it makes the pipeline the consumer's measure of room.
func (p *Pipeline) Free() int { return p.cfg.MaxJobs - p.schedule.size() }

// Freed signals that Free may have grown.
func (p *Pipeline) Freed() <-chan struct{} { return p.freed }
