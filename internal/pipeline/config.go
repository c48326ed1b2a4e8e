package pipeline

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/pipeline/page"
	"github.com/ncsa/clowder-ray/internal/pipeline/slots"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/script"
)

// Config is what an operator decides about the life of a job.
type Config struct {
	// Extractors are what Clowder can submit to, the one that trains first.
	Extractors platform.Extractors
	// Volume is where the runs, the cache and the models lie.
	Volume volume.Volume
	// MaxJobs bounds the jobs at work; MaxDownloads and MaxUploads those that move data at this moment. They are apart so
	// that a new job never waits for the results of others.
	MaxJobs      int
	MaxDownloads int
	MaxUploads   int
	// MaxRunning bounds the jobs on Ray, MaxRunningPerUser those of one user; 0 does not.
	MaxRunning        int
	MaxRunningPerUser int
	// MaxJobsPerUser bounds the jobs at work of one user; 0, or as many as MaxJobs, does not. Further ones are taken and wait.
	MaxJobsPerUser int
	// UserJobsPerHour is how many jobs of a user begin at once, and in each hour after that, UserRequestsPerHour the same for
	// requests about other jobs; 0 is no limit.
	UserJobsPerHour     int
	UserRequestsPerHour int
	// FeedJobsPerDay is how many jobs about single files Clowder may start by itself for one user and dataset within a day; 0 is no limit.
	FeedJobsPerDay int
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
	Studio page.Studio
	// Scripts decides what scripts of users may do, and prepares them.
	Scripts *script.Preparer
	// CheckTrainer, where given, is called at most a second before each submission: it makes sure that the trainer on the volume is the one that this
	// program brought, and takes some milliseconds. Its error is for the operator, and jobs wait meanwhile.
	CheckTrainer func() error
	// Temporary says that the volume goes with the job, so that nobody is told of a registered version.
	Temporary bool
	// Version is this program's, for the report.
	Version string
	// Watch, where given, sees every look at a running job.
	Watch func(run string, p results.Progress)
	// Over, where given, is called when a job has reached a terminal state.
	Over func(run string)
}

// limits are the limits of jobs at once.
func (c Config) limits() slots.Limits {
	return slots.Limits{
		Jobs: c.MaxJobs, JobsPerUser: c.MaxJobsPerUser, Running: c.MaxRunning, RunningPerUser: c.MaxRunningPerUser,
		Downloads: c.MaxDownloads, Uploads: c.MaxUploads, JobsPerHour: c.UserJobsPerHour, RequestsPerHour: c.UserRequestsPerHour,
	}
}

// watched tells who watches of a look at a running job.
func (c Config) watched(run string, p results.Progress) {
	if c.Watch != nil {
		c.Watch(run, p)
	}
}

// over tells who waits for it that a job has reached a terminal state.
func (c Config) over(run string) {
	if c.Over != nil {
		c.Over(run)
	}
}
