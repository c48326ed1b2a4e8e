package pipeline

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/admission"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// maxWaiting bounds the jobs of one user that are taken and wait, and the requests of one user that are not over. Each of them
// costs a record on the disk of the service.
const maxWaiting = 1000

// roster is the one of a job.
func (p *Pipeline) roster(rec job.Record) *admission.Active {
	return p.rosterOf(p.cfg.Extractors.Of(rec.Request).Kind)
}

func (p *Pipeline) rosterOf(kind platform.Kind) *admission.Active {
	if kind == platform.Runs {
		return p.activeRequests
	}
	return p.activeJobs
}

// share is the most jobs of one user in hand, 0 where all of them may be one user's.
func (c Config) jobsPerUser() int {
	if c.MaxJobsPerUser >= c.MaxJobs {
		return 0
	}
	return c.MaxJobsPerUser
}

// needsSlot reports whether a job needs a slot to go on: it has not started, and is not about to end. A request about runs never does.
func (p *Pipeline) needsSlot(rec job.Record) bool {
	return rec.State == job.Accepted && rec.Ending == nil && rec.CancelledBy == "" && p.roster(rec) == p.activeJobs
}

// admit asks for the slot of a job that has not started. A job that has to wait is woken when it gets one, and looks at its position
// now and then.
func (p *Pipeline) admit(rec job.Record) (wait time.Duration, ok bool) {
	p.roster(rec).Add(rec.Run, rec.Owner)
	if p.needsSlot(rec) && !p.inProgress.Enter(rec.Run, rec.Owner, rec.Created) {
		return p.wait(rec, p.inProgress), false
	}
	return 0, true
}
