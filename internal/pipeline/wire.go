package pipeline

import (
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/attempt"
	"github.com/ncsa/clowder-ray/internal/pipeline/clock"
	"github.com/ncsa/clowder-ray/internal/pipeline/deliver"
	"github.com/ncsa/clowder-ray/internal/pipeline/handover"
	"github.com/ncsa/clowder-ray/internal/pipeline/intake"
	"github.com/ncsa/clowder-ray/internal/pipeline/life"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/pipeline/page"
	"github.com/ncsa/clowder-ray/internal/pipeline/progress"
	"github.com/ncsa/clowder-ray/internal/pipeline/request"
	"github.com/ncsa/clowder-ray/internal/pipeline/schedule"
	"github.com/ncsa/clowder-ray/internal/pipeline/slots"
	"github.com/ncsa/clowder-ray/internal/pipeline/staging"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// around is what the service gives to a pipeline.
type around struct {
	store     job.Store
	backend   rayjob.Backend
	platform  platform.Platform
	publisher status.Publisher
	metrics   *metrics.Metrics
	log       *zap.Logger
}

// New wires a pipeline. Run starts it.
func New(cfg Config, store job.Store, backend rayjob.Backend, platform platform.Platform, publisher status.Publisher, metrics *metrics.Metrics, log *zap.Logger) *Pipeline {
	a := around{store, backend, platform, publisher, metrics, log.Named("pipeline")}
	p := wireShared(cfg, a)
	follower := p.wireStages(cfg, a)
	p.loop = life.New(life.Config{
		Store: a.store, Clock: p.clock, Schedule: p.schedule, Slots: p.slots, Statuses: p.statuses, Metrics: a.metrics, Quiet: cfg.AutomaticAfter,
		Resume: func(req *job.Request) { p.intakes.Complete(req) },
		Forget: func(run string) {
			follower.Forget(run)
			p.deliverer.Forget(run)
			p.objects.Forget(run)
			p.stager.Turns.Forget(run)
		},
		Over: func(run string) {
			cfg.over(run)
			p.intakes.Signal()
		},
		Log: a.log,
	})
	p.intakes = intake.New(intake.Config{
		Store: a.store, Loop: p.loop, Slots: p.slots, Statuses: p.statuses, Metrics: a.metrics, Names: p.names, Clowder: a.platform,
		Extractors: cfg.Extractors, AutomaticAfter: cfg.AutomaticAfter, Log: a.log,
	})
	p.requests.Runs.Commands = p.loop
	p.loop.Stages = p.stages(cfg.MaxRetry)
	return &Pipeline{Commands: p.loop.Commands, parts: p}
}

// wireShared makes what the stages share.
func wireShared(cfg Config, a around) *parts {
	p := &parts{
		clock: clock.New(), schedule: schedule.New(), pages: page.New(cfg.Studio, a.log), names: intake.NewNames(a.platform, a.store),
		registry: registry.New(cfg.Volume.Registry()), objects: objects.New(cfg.Objects, cfg.Volume, a.platform.User, a.log),
	}
	p.registry.OnFault(func(path string, err error) {
		a.log.Error("the model registry has an unreadable entry, ignoring it", zap.String("path", path), zap.Error(err))
	})
	p.statuses = status.NewMilestones(status.MilestonesConfig{
		Publisher: a.publisher, Platform: a.platform, Records: a.store, Extractors: cfg.Extractors, Page: p.pages.Link, Aged: p.clock.Aged,
		Wake: p.schedule.Add, Log: a.log,
	})
	p.slots = slots.New(cfg.limits(), slots.Hooks{Wake: p.schedule.Add, Say: p.statuses.SayPassing, OnRay: a.metrics.Slots})
	p.handover = handover.New(a.platform, a.store, p.statuses.Remark)
	return p
}

// wireStages makes the owners of the stages, and returns what follows the events of attempts.
func (p *parts) wireStages(cfg Config, a around) *progress.Follower {
	follower := progress.NewFollower(cfg.Volume.Run)
	p.releaser = &attempt.Releaser{Backend: a.backend, Records: a.store, Orphaned: a.metrics.Orphan, Log: a.log}
	p.submitter = &attempt.Submitter{
		Backend: a.backend, Releaser: p.releaser, Volume: cfg.Volume, Extractors: cfg.Extractors, Registry: p.registry, Clowders: a.platform,
		Pages: p.pages, Statuses: p.statuses, Template: cfg.Attempt, Trainer: attempt.NewTrainer(cfg.CheckTrainer),
	}
	p.watcher = &attempt.Watcher{
		Backend: a.backend, Volume: cfg.Volume, Follower: follower, Objects: p.objects, Clock: p.clock, Statuses: p.statuses, Log: a.log,
		Limits: attempt.Limits{
			Poll: cfg.Poll, PendingTimeout: cfg.PendingTimeout, StallTimeout: cfg.StallTimeout, MaxRetry: cfg.MaxRetry, MaxAttempts: cfg.MaxAttempts,
		},
		Watched: cfg.watched,
	}
	p.stager = &staging.Stager{
		Turns: &staging.Turns{}, Places: p.slots.Downloads,
		Platform: a.platform, Records: a.store, Extractors: cfg.Extractors, Volume: cfg.Volume, Registry: p.registry, Objects: p.objects,
		Pages: p.pages, Statuses: p.statuses, Scripts: cfg.Scripts, Isolates: p.submitter.Isolates, NoteUsers: cfg.NoteUsers,
		Repeats: &staging.Repeats{Platform: a.platform, Records: a.store, PerDay: cfg.FeedJobsPerDay},
	}
	p.deliverer = &deliver.Deliverer{
		Platform: a.platform, Records: a.store, Extractors: cfg.Extractors, Volume: cfg.Volume, Registry: p.registry, Objects: p.objects,
		Handover: p.handover, Pages: p.pages, Statuses: p.statuses, Temporary: cfg.Temporary, Version: cfg.Version, BuildFiles: delivery.Build,
	}
	p.requests = &request.Requests{
		Extractors: cfg.Extractors, Statuses: p.statuses,
		Runs: &request.Runs{Platform: a.platform, Records: a.store, Statuses: p.statuses},
		Models: &request.Models{
			Platform: a.platform, Records: a.store, Registry: p.registry, Volume: cfg.Volume, Handover: p.handover, Statuses: p.statuses, Version: cfg.Version,
		},
	}
	p.ending = &life.Ending{Known: a.platform, Attempts: p.releaser, Pages: p.pages, Statuses: p.statuses, Log: a.log}
	return follower
}
