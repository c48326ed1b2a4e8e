package pipeline

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/admission"
	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/pipeline/progress"
	"github.com/ncsa/clowder-ray/internal/pipeline/schedule"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/script"
)

// ErrStopping is the cause with which the work context ends when the service stops: nothing failed, the jobs go on.
var ErrStopping = errors.New("the service is stopping")

// Config is what an operator decides about the life of a job.
type Config struct {
	// Extractors are what Clowder can submit to, the one that trains first.
	Extractors platform.Extractors
	// Volume is where the runs, the cache and the models lie.
	Volume volume.Volume
	// MaxJobs bounds the jobs in hand; MaxDownloads and MaxUploads those that move data at this moment. They are apart so
	// that a new job never waits for the results of others.
	MaxJobs      int
	MaxDownloads int
	MaxUploads   int
	// MaxRunning bounds the jobs on Ray, MaxRunningPerUser those of one user; 0 does not.
	MaxRunning        int
	MaxRunningPerUser int
	// MaxJobsPerUser bounds the jobs in hand of one user; 0, or as many as MaxJobs, does not. Further ones are taken and wait.
	MaxJobsPerUser int
	// UserJobsPerHour is how many jobs of a user begin at once, and in each hour after that, UserRequestsPerHour the same for
	// requests about other jobs; 0 is no limit.
	UserJobsPerHour     int
	UserRequestsPerHour int
	// MaxRetry bounds the tries of a stage, MaxAttempts those of a training that Ray lost.
	MaxRetry    int
	MaxAttempts int
	// AutomaticAfter is how long an automatic run waits for more files after each one.
	AutomaticAfter time.Duration
	// Poll is the longest time between two looks at a running training. A young one is looked at more often.
	Poll time.Duration
	// PendingTimeout and StallTimeout end a training that does not start and one that says nothing any more.
	PendingTimeout time.Duration
	StallTimeout   time.Duration
	// Attempt holds what all attempts share: the interpreter, the trainer and its environment.
	Attempt rayjob.Attempt
	// Objects are the object stores that users may name; nil is none.
	Objects objects.Store
	// NoteUsers: the record of a job names its user, for people who look for their own runs and for e-mails.
	NoteUsers bool
	// Studio, where given, is the web page of the service, to which statuses and results lead.
	Studio Studio
	// Scripts decides what scripts of users may do, and prepares them.
	Scripts *script.Preparer
	// CheckTrainer, where given, is called at most a second before each submission: it makes sure that the trainer on the volume is the one that this
	// program brought, and takes some milliseconds. Its error is for the operator, and jobs wait meanwhile.
	CheckTrainer func() error
	// Version is this program's, for the report.
	Version string
	// Watch, where given, sees every look at a running job.
	Watch func(run string, p results.Progress)
	// Over, where given, is called when a job has reached a terminal state.
	Over func(run string)
}

// Studio is the web page of the service, as far as users are led there.
type Studio interface {
	// Link is the address of the page of a run.
	Link(run string) string
	// Show shows in the user's platform how far a job is, once, however often it is called; Hide removes that.
	Show(ctx context.Context, rec job.Record) error
	Hide(ctx context.Context, rec job.Record) error
}

// Pipeline takes every job from its message to its last status.
type Pipeline struct {
	cfg      Config
	store    job.Store
	backend  rayjob.Backend
	platform platform.Platform
	registry *registry.Registry
	log      *zap.Logger
	metrics  *Metrics

	stages     []stage
	requests   []stage
	interrupts *interrupts
	records    *recordCache

	schedule *schedule.Queue
	reporter *status.Reporter
	replies  status.ReplyQueues
	follower *progress.Follower
	objects  *objects.Mover
	// trainer is the newest look at the trainer on the volume.
	trainer     *rayjob.Cached[struct{}]
	clock       *clock
	collections collections
	starts      starts
	intakes     []*Intake
	// decoding bounds the bytes of messages that are decoded at once.
	decoding *semaphore.Weighted
	// activeJobs and activeRequests count the jobs, and the requests about runs, that are accepted and not over.
	activeJobs, activeRequests *admission.Active
	// buildFiles is delivery.Build, except in tests: most of them need no pictures and reports, which take most of the time of a job.
	buildFiles func(ctx context.Context, run, to disk.Folder, r *results.Result, m manifest.Meta) ([]delivery.Artifact, error)
	// closed keeps the intakes from taking more jobs, whatever room there is.
	closed atomic.Bool

	// inProgress admits jobs up to MaxJobs; the others wait for their turn. Requests about runs need no slot here.
	inProgress *admission.Queue
	// raySlots are the slots on Ray, observers those for looking at the jobs there. queues are all that an admitted job may wait in.
	raySlots, observers *admission.Queue
	queues              []*admission.Queue
}

// stage takes a job from one state to the next. Its run function looks before it repeats an outside effect and returns the
// change to make in the record once the effect is certain.
type stage struct {
	from job.State
	run  func(ctx context.Context, rec job.Record) (change, error)
	// slots bounds how many jobs are in the stage at once; nil does not. onRay says that it needs a place on Ray besides.
	slots *admission.Queue
	onRay bool
	// tries bounds how often the stage may fail for a passing reason, pause how long it waits between two tries.
	tries int
	pause time.Duration
	// interruptible says that a cancellation may cut the stage short: what it has done so far does no harm if nobody knows of it.
	interruptible bool
}

// change alters the record after a stage did its work.
type change func(*job.Record) error

// giveUpAfter is how long a job whose training runs or has finished waits for a Ray or a Clowder that is down.
const giveUpAfter = 3 * 24 * time.Hour

// New wires a pipeline. Run starts it.
func New(cfg Config, store job.Store, backend rayjob.Backend, platform platform.Platform, publisher status.Publisher, metrics *Metrics, log *zap.Logger) *Pipeline {
	p := &Pipeline{
		cfg: cfg, store: store, backend: backend, platform: platform, metrics: metrics, log: log.Named("pipeline"),
		registry: registry.New(cfg.Volume.Registry()), schedule: schedule.New(),
		trainer:  rayjob.NewCached(trainerChecked, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, cfg.CheckTrainer() }),
		follower: progress.NewFollower(cfg.Volume.Run), clock: newClock(), buildFiles: delivery.Build, interrupts: newInterrupts(), records: newRecordCache(),
	}
	p.objects = objects.New(cfg.Objects, cfg.Volume, platform.User, p.log)
	p.registry.OnFault(func(path string, err error) {
		p.log.Error("the model registry has an unreadable entry, ignoring it", zap.String("path", path), zap.Error(err))
	})
	p.reporter = status.NewReporter(publisher, status.Hooks{OnSent: p.onSent, IsDelivered: p.isDelivered}, p.log)
	p.decoding = semaphore.NewWeighted(decodeBytes)
	p.activeJobs, p.activeRequests = admission.NewActive("job", cfg.UserJobsPerHour), admission.NewActive("request", cfg.UserRequestsPerHour)

	p.inProgress = admission.NewQueue("Waiting to start", cfg.MaxJobs, cfg.jobsPerUser(), p.schedule.Add)
	p.raySlots = p.queue("Waiting for a free slot on Ray", cfg.MaxRunning, cfg.MaxRunningPerUser)
	downloads := p.queue("Waiting to download the dataset", max(1, cfg.MaxDownloads), 0)
	uploads := p.queue("Waiting to upload the results", max(1, cfg.MaxUploads), 0)
	submits, builds := p.queue("", maxSubmits, 0), p.queue("", maxBuilds, 0)
	p.observers = p.queue("", maxObservers, 0)
	stageTries, watchTries, deliveryTries := cfg.MaxRetry, int(giveUpAfter/watchPause), int(giveUpAfter/maxPause)

	// The life of a job.
	p.stages = []stage{
		{from: job.Accepted, run: p.stageInputs, slots: downloads, tries: stageTries, pause: maxPause, interruptible: true},
		{from: job.Staged, run: p.submit, slots: submits, onRay: true, tries: stageTries, pause: maxPause},
		{from: job.Submitted, run: p.watch, slots: p.observers, onRay: true, tries: watchTries, pause: watchPause, interruptible: true},
		{from: job.Running, run: p.watch, slots: p.observers, onRay: true, tries: watchTries, pause: watchPause, interruptible: true},
		{from: job.Finished, run: p.collect, slots: builds, tries: stageTries, pause: maxPause},
		{from: job.Collected, run: p.upload, slots: uploads, tries: deliveryTries, pause: maxPause},
	}
	// The life of a request about another job, or about a model.
	p.requests = []stage{
		{from: job.Accepted, run: p.chooseRun, tries: stageTries, pause: maxPause},
		{from: job.Staged, run: p.actOnRun, tries: stageTries, pause: maxPause},
		{from: job.Collected, run: p.export, slots: uploads, tries: deliveryTries, pause: maxPause},
	}
	return p
}

// Run works on every active job until ctx ends, and returns when all steps have ended and the queued terminal statuses are sent.
// Trainings on Ray continue; the next Run resumes them.
func (p *Pipeline) Run(ctx context.Context) error {
	if err := p.resume(ctx); err != nil {
		return err
	}
	// The reporter outlives the steps, since it tells how they ended.
	statusCtx, stopReporter := context.WithCancel(context.WithoutCancel(ctx))
	defer stopReporter()
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { p.reporter.Run(statusCtx) })
	background.Go(func() { p.lookForChanges(ctx) })
	background.Go(func() { p.lookForOrphans(ctx) })
	background.Go(func() { p.objects.Run(ctx) })

	p.schedule.Work(ctx, maxSteps, func(run string) { p.work(ctx, run) })
	p.flushStatuses(statusCtx)
	stopReporter()
	return nil
}
