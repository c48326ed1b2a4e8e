package pipeline

import (
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// maxWaiting bounds the jobs of one user that are taken and wait, and the requests of one user that are not over. Each of them
// costs a record on the disk of the service.
const maxWaiting = 1000

// roster knows the jobs of one sort that are taken and not over, by their users, and how fast a user's may begin. It is kept in
// memory only and built again from the store at every start.
type roster struct {
	// noun is what such a job is to its user.
	noun      string
	allowance *allowance

	mu     sync.Mutex
	owners map[string]string // by run
	sizes  map[string]int    // by owner
}

func newRoster(noun string, perHour int) *roster {
	return &roster{noun: noun, allowance: newAllowance(perHour), owners: map[string]string{}, sizes: map[string]int{}}
}

// add counts a job, once.
func (r *roster) add(run, owner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.owners[run]; !known {
		r.owners[run] = owner
		r.sizes[owner]++
	}
}

// drop forgets a job that is over, or was never here.
func (r *roster) drop(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner, known := r.owners[run]
	if !known {
		return
	}
	delete(r.owners, run)
	if r.sizes[owner]--; r.sizes[owner] == 0 {
		delete(r.sizes, owner)
	}
}

// size is how many jobs of the owner are here.
func (r *roster) size(owner string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sizes[owner]
}

// roster is the one of a job.
func (p *Pipeline) roster(rec job.Record) *roster {
	return p.rosterOf(p.cfg.Extractors.Of(rec.Request).Kind)
}

func (p *Pipeline) rosterOf(kind platform.Kind) *roster {
	if kind == platform.Runs {
		return p.asked
	}
	return p.jobs
}

// share is the most jobs of one user in hand, 0 where all of them may be one user's.
func (c Config) share() int {
	if c.MaxJobsPerUser >= c.MaxJobs {
		return 0
	}
	return c.MaxJobsPerUser
}

// newcomer reports whether a job needs a free slot to go on: it has not begun, and is not about to end. A request about other jobs
// never needs one.
func (p *Pipeline) newcomer(rec job.Record) bool {
	return rec.State == job.Accepted && rec.Ending == nil && rec.CancelledBy == "" && p.roster(rec) == p.jobs
}

// takeUp takes a job in hand that has not begun. One that has to wait for its turn is called, and comes back now and then to tell
// its place.
func (p *Pipeline) takeUp(rec job.Record) (wait time.Duration, ok bool) {
	p.roster(rec).add(rec.Run, rec.Owner)
	if p.newcomer(rec) && !p.hands.enter(rec.Run, rec.Owner, rec.Created) {
		return p.wait(rec, p.hands), false
	}
	return 0, true
}
