package pipeline

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/admission"
)

const (
	// maxSteps bounds the steps under way, whatever they do; it is more than all stages have room for.
	maxSteps = 256
	// maxSubmits and maxBuilds bound the jobs that are being given to Ray and those whose results are verified and built.
	maxSubmits = 16
	maxBuilds  = 4
	// maxObservers bounds the looks under way, so that a Ray that does not answer keeps no download and no upload waiting.
	maxObservers = 64
	// looksPerSecond bounds the looks at jobs on Ray. With thousands of jobs each of them is looked at less often.
	looksPerSecond = 500
)

// The pauses after which a job that waits looks how long the line still is. The farther behind, the longer: nobody reads of
// ten thousand places every half minute.
const (
	positionPause    = admission.UpdateInterval
	maxPositionPause = 10 * time.Minute
)

// queue makes an admission queue of the pipeline; waitingFor begins the sentence that waiting users read, empty for none.
func (p *Pipeline) queue(waitingFor string, slots, perUser int) *admission.Queue {
	q := admission.NewQueue(waitingFor, slots, perUser, p.schedule.Add)
	p.queues = append(p.queues, q)
	return q
}

// enter asks for what a stage needs: a place on Ray, room in the stage. A job that has to wait is called, and comes back now
// and then to tell its place; at all other gates it waits no longer.
func (p *Pipeline) enter(rec job.Record, st stage) (wait time.Duration, ok bool) {
	for _, g := range p.queues {
		if g != st.slots && (g != p.raySlots || !usesRay(rec)) {
			g.Leave(rec.Run)
		}
	}
	defer func() { p.metrics.slots(p.raySlots.Size()) }()
	if rec.State != job.Staged && usesRay(rec) {
		p.raySlots.Restore(rec.Run, rec.Owner) // no matter which process put it there
	}
	if st.onRay && !p.raySlots.Enter(rec.Run, rec.Owner, rec.Created) {
		return p.wait(rec, p.raySlots), false
	}
	if st.slots != nil && !st.slots.Enter(rec.Run, rec.Owner, rec.Created) {
		return p.wait(rec, st.slots), false
	}
	return 0, true
}

// usesRay reports whether a job keeps its place on Ray: until its attempt has ended, and from one attempt to the next.
func usesRay(rec job.Record) bool {
	switch rec.State {
	case job.Submitted, job.Running:
		return true
	case job.Staged:
		return rec.Ending == nil && rec.CancelledBy == ""
	default:
		return false
	}
}

// wait updates the user on the position of a waiting job, and returns when to look at it again.
func (p *Pipeline) wait(rec job.Record, q *admission.Queue) time.Duration {
	position, changed := q.PositionUpdate(rec.Run, time.Now())
	if text := q.Describe(position); changed && text != "" {
		p.sayPassing(rec, text)
	}
	return min(positionPause+time.Duration(position.Ahead)*time.Second, maxPositionPause)
}

// pace is the shortest time between two looks at a job on Ray.
func (p *Pipeline) pace() time.Duration {
	inside, _ := p.raySlots.Size()
	return time.Duration(inside) * time.Second / looksPerSecond
}

// maxWaiting bounds the jobs of one user that are taken and wait, and the requests of one user that are not over. Each of them
// costs a record on the disk of the service.
const maxWaiting = 1000

// activeOf is the list of active jobs or requests that counts a job.
func (p *Pipeline) activeOf(rec job.Record) *admission.Active {
	return p.activeOfKind(rec.Kind)
}

func (p *Pipeline) activeOfKind(kind job.Work) *admission.Active {
	if kind == job.Runs {
		return p.activeRequests
	}
	return p.activeJobs
}

// jobsPerUser is the largest number of active jobs of one user; 0 means no limit.
func (c Config) jobsPerUser() int {
	if c.MaxJobsPerUser >= c.MaxJobs {
		return 0
	}
	return c.MaxJobsPerUser
}

// needsSlot reports whether a job needs a slot to go on: it has not started, and is not about to end. A request about runs never does.
func (p *Pipeline) needsSlot(rec job.Record) bool {
	return rec.State == job.Accepted && rec.Ending == nil && rec.CancelledBy == "" && p.activeOf(rec) == p.activeJobs
}

// admit asks for the slot of a job that has not started. A job that has to wait is woken when it gets one, and looks at its position
// now and then.
func (p *Pipeline) admit(rec job.Record) (wait time.Duration, ok bool) {
	p.activeOf(rec).Add(rec.Run, rec.Owner)
	if p.needsSlot(rec) && !p.inProgress.Enter(rec.Run, rec.Owner, rec.Created) {
		return p.wait(rec, p.inProgress), false
	}
	return 0, true
}
