package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/pipeline/attempt"
	"github.com/ncsa/clowder-ray/internal/pipeline/clock"
	"github.com/ncsa/clowder-ray/internal/pipeline/deliver"
	"github.com/ncsa/clowder-ray/internal/pipeline/handover"
	"github.com/ncsa/clowder-ray/internal/pipeline/intake"
	"github.com/ncsa/clowder-ray/internal/pipeline/life"
	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/pipeline/page"
	"github.com/ncsa/clowder-ray/internal/pipeline/request"
	"github.com/ncsa/clowder-ray/internal/pipeline/schedule"
	"github.com/ncsa/clowder-ray/internal/pipeline/slots"
	"github.com/ncsa/clowder-ray/internal/pipeline/staging"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// ErrStopping is the cause with which the work context ends when the service stops: nothing failed, the jobs go on.
var ErrStopping = errors.New("the service is stopping")

// Pipeline takes every job from its message to its last status. Its commands are those of people about one job.
type Pipeline struct {
	*life.Commands
	*parts
}

// parts are the packages at work. The first group owns the stages of a job, in their order; the second what the stages share.
type parts struct {
	intakes   *intake.Intakes
	stager    *staging.Stager
	submitter *attempt.Submitter
	watcher   *attempt.Watcher
	releaser  *attempt.Releaser
	deliverer *deliver.Deliverer
	requests  *request.Requests
	ending    *life.Ending
	loop      *life.Loop

	slots    *slots.Slots
	statuses *status.Milestones
	clock    *clock.Clock
	schedule *schedule.Queue
	names    *intake.Names
	registry *registry.Registry
	objects  *objects.Mover
	handover *handover.Handover
	pages    *page.Pages
}

// Run works on every active job until ctx ends, and returns when all steps have ended and the queued terminal statuses are sent.
// Trainings on Ray continue; the next Run resumes them.
func (p *Pipeline) Run(ctx context.Context) error {
	if err := p.loop.Resume(ctx); err != nil {
		return err
	}
	// The reporter outlives the steps, since it tells how they ended.
	statusCtx, stopReporter := context.WithCancel(context.WithoutCancel(ctx))
	defer stopReporter()
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { p.statuses.Run(statusCtx) })
	background.Go(func() { p.loop.LookForChanges(ctx) })
	background.Go(func() { p.releaser.LookForOrphans(ctx) })
	background.Go(func() { p.objects.Run(ctx) })

	p.loop.Run(ctx)
	p.loop.Flush(statusCtx)
	stopReporter()
	return nil
}

// NewIntake returns the intake for one of the extractors; all intakes are made before Run. version is the Clowder version of messages that do
// not show it, or 0.
func (p *Pipeline) NewIntake(e platform.Extractor, publisher intake.Publisher, version int) *intake.Intake {
	return p.intakes.Add(e, publisher, version)
}

// NewRecovery returns the recovery of lost jobs, which scans at the given interval. publisher publishes their messages again, and waiting counts
// the messages in a queue.
func (p *Pipeline) NewRecovery(jobs intake.SubmittedJobs, publisher intake.Publisher, waiting func(ctx context.Context, queue string) (int, error), every time.Duration) *intake.Recovery {
	return p.intakes.Recovery(jobs, publisher, waiting, every)
}

// SetAdmission allows the intakes to take jobs, or leaves all jobs in RabbitMQ while they cannot be served.
func (p *Pipeline) SetAdmission(open bool) { p.intakes.SetAdmission(open) }

// Lock keeps every worker from a run whose job is over until release is called. It reports false if the run is scheduled or being worked on.
func (p *Pipeline) Lock(run string) (release func(), held bool) { return p.loop.Lock(run) }

// RunOf returns the name that the run of a job of Clowder will have, which is sent to this queue.
func (p *Pipeline) RunOf(queue, jobID string) string { return p.names.Of(queue, jobID) }

// LastStatus returns the newest sentence that the user of a run was told, empty if this process has told none.
func (p *Pipeline) LastStatus(run string) string { return p.statuses.LastText(run) }
