package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
)

// ErrStopping is the cause with which the work context ends when the service stops: nothing failed, the jobs go on.
var ErrStopping = errors.New("the service is stopping")

// Config is what an operator decides about the life of a job.
type Config struct {
	// Instance goes into the name of a run beside the queue, so that two services never share one.
	Instance string
	// Extractors are what Clowder can submit to, the one that trains first.
	Extractors Extractors
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
	store    job.Store
	backend  rayjob.Backend
	platform Platform
	registry *registry.Registry
	log      *zap.Logger
	metrics  *Metrics

	stages     []stage
	requests   []stage
	interrupts *interrupts

	schedule *schedule
	reporter *reporter
	follower *follower
	intakes  []*Intake
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
	// yields says that a cancellation may cut the stage short: what it has done so far does no harm if nobody knows of it.
	yields bool
}

// change alters the record after a stage did its work.
type change func(*job.Record) error

// patience is how long a training that runs or has finished waits for a Ray or a Clowder that is down.
const patience = 3 * 24 * time.Hour

// New wires a pipeline. Run starts it.
func New(cfg Config, store job.Store, backend rayjob.Backend, platform Platform, voice Voice, metrics *Metrics, log *zap.Logger) *Pipeline {
	p := &Pipeline{
		cfg: cfg, store: store, backend: backend, platform: platform, metrics: metrics, log: log.Named("pipeline"),
		registry: registry.New(cfg.Volume.Registry()), schedule: newSchedule(),
		follower: newFollower(cfg.Volume), interrupts: newInterrupts(),
	}
	p.reporter = newReporter(voice, p.log, p.said)

	downloads, uploads := make(chan struct{}, max(1, cfg.MaxDownloads)), make(chan struct{}, max(1, cfg.MaxUploads))
	few, watching, delivering := cfg.MaxRetry, int(patience/watchPause), int(patience/maxPause)

	// The life of a job.
	p.stages = []stage{
		{from: job.Accepted, run: p.stageInputs, slots: downloads, tries: few, pause: maxPause, yields: true},
		{from: job.Staged, run: p.submit, tries: few, pause: maxPause},
		{from: job.Submitted, run: p.watch, tries: watching, pause: watchPause, yields: true},
		{from: job.Running, run: p.watch, tries: watching, pause: watchPause, yields: true},
		{from: job.Finished, run: p.collect, tries: few, pause: maxPause},
		{from: job.Collected, run: p.upload, slots: uploads, tries: delivering, pause: maxPause},
	}
	// The life of a request about another job.
	p.requests = []stage{
		{from: job.Accepted, run: p.chooseRun, tries: few, pause: maxPause},
		{from: job.Staged, run: p.actOnRun, tries: few, pause: maxPause},
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
