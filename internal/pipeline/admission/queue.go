package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/text"
)

// UpdateInterval is the shortest time between two updates about the position of one job.
const UpdateInterval = 30 * time.Second

// Queue admits jobs to a bounded number of slots in fair order: users take turns, and each user's oldest job goes first. So a
// hundred jobs of one user delay another user by one job at most.
//
// After a restart jobs that had a slot are given one with Restore, and the others enter again.
type Queue struct {
	// waitingFor begins the sentence that waiting users read, such as "Waiting to start"; empty where they read nothing.
	waitingFor string
	// slots bounds the admitted jobs, perUser those of one owner; 0 means no bound.
	slots, perUser int
	// onAdmit is called with each job that is admitted after it had to wait. The queue is locked during the call.
	onAdmit func(run string)

	mu       sync.Mutex
	admitted map[string]string // run → owner
	queued   map[string]string // run → owner, of the waiting jobs
	held     map[string]int    // owner → slots held
	// yielding are the admitted jobs that give their slot up for another owner, and aside those that did: run → owner.
	yielding, aside map[string]string
	// waiting holds the waiting jobs of each owner, oldest first; turns lists these owners, the next one first.
	waiting map[string][]*waiter
	turns   []string
}

// waiter is one waiting job.
type waiter struct {
	run   string
	since time.Time
	// updated is the time of the last position update, and position what it said.
	updated  time.Time
	position Position
}

// Position is the position of a waiting job.
type Position struct {
	// Ahead is the number of jobs that will be admitted first.
	Ahead int
	// OwnLimit says that the job waits for other jobs of its own user, who holds as many slots as one user may.
	OwnLimit bool
}

// NewQueue returns a queue for the given number of slots, of which one user may hold perUser; 0 means no bound. waitingFor begins
// the sentence of Describe. onAdmit is called with each job that is admitted after it had to wait; it must not call the queue.
func NewQueue(waitingFor string, slots, perUser int, onAdmit func(run string)) *Queue {
	return &Queue{
		waitingFor: waitingFor, slots: slots, perUser: perUser, onAdmit: onAdmit,
		admitted: map[string]string{}, queued: map[string]string{}, held: map[string]int{}, waiting: map[string][]*waiter{},
		yielding: map[string]string{}, aside: map[string]string{},
	}
}

// Enter asks for a slot. It reports true if the job has one now; otherwise the job waits, and onAdmit is called when it gets one.
// since is the age of the job, which orders the jobs of one user. A job keeps its slot until it leaves.
func (q *Queue) Enter(run, owner string, since time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.aside, run)
	if _, admitted := q.admitted[run]; admitted {
		return true
	}
	if _, queued := q.queued[run]; !queued {
		q.join(owner, &waiter{run: run, since: since})
	}
	q.admit(run)
	_, admitted := q.admitted[run]
	return admitted
}

// Restore gives a slot to a job that had one before a restart, even if no slot is free.
func (q *Queue) Restore(run, owner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hold(run, owner)
}

// Leave frees the slot of a job or removes it from the waiting ones. It does nothing for a job that is neither.
func (q *Queue) Leave(run string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.aside, run)
	if _, admitted := q.admitted[run]; admitted {
		q.release(run)
	} else if owner, i := q.find(run); i >= 0 {
		q.remove(owner, i)
	}
	q.admit("")
}

// Yield says that an admitted job goes on in small parts. From now on its slot goes to the next waiting job of another owner, at once; the job
// ends the part that it has begun aside of the slots, and then leaves. At most as many jobs as there are slots are aside at a time. While
// they are, a job waits for the end of a part.
func (q *Queue) Yield(run string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if owner, admitted := q.admitted[run]; admitted {
		q.yielding[run] = owner
		q.admit("")
	}
}

// Wanted reports whether a job that yields should leave: its slot is gone, or a job of another owner waits for it.
func (q *Queue) Wanted(run string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, aside := q.aside[run]; aside {
		return true
	}
	owner := q.admitted[run]
	return slices.ContainsFunc(q.turns, func(other string) bool { return other != owner && !q.atLimit(other) })
}

// PositionUpdate returns the position of a waiting job. It reports true if the user should read it: the position has changed since
// the last update, and that update is at least UpdateInterval old.
func (q *Queue) PositionUpdate(run string, now time.Time) (Position, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	owner, i := q.find(run)
	if i < 0 {
		return Position{}, false
	}
	w := q.waiting[owner][i]
	p := Position{Ahead: i, OwnLimit: q.atLimit(owner)}
	if !p.OwnLimit {
		p.Ahead = q.ahead(owner, i)
	}
	if !w.updated.IsZero() && (p == w.position || now.Sub(w.updated) < UpdateInterval) {
		return p, false
	}
	w.updated, w.position = now, p
	return p, true
}

// Describe writes a position for the user, empty where users read nothing about this queue.
func (q *Queue) Describe(p Position) string {
	switch {
	case q.waitingFor == "":
		return ""
	case p.OwnLimit && p.Ahead == 0:
		return fmt.Sprintf("%s: the limit is %s per user at a time", q.waitingFor, text.Count(q.perUser, "job"))
	case p.OwnLimit:
		return fmt.Sprintf("%s: the limit is %s per user at a time, and %s of yours %s ahead", q.waitingFor,
			text.Count(q.perUser, "job"), text.Count(p.Ahead, "job"), be(p.Ahead))
	case p.Ahead == 0:
		return q.waitingFor + ": next in the queue"
	default:
		return fmt.Sprintf("%s: %s ahead in the queue", q.waitingFor, text.Count(p.Ahead, "job"))
	}
}

func be(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Size returns how many jobs have a slot and how many wait.
func (q *Queue) Size() (admitted, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.admitted), len(q.queued)
}

// HeldBy returns how many slots the owner holds.
func (q *Queue) HeldBy(owner string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held[owner]
}

// Contended reports whether jobs wait, or would wait if an owner brought another one. It is always false without a limit per user.
func (q *Queue) Contended() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.perUser == 0 || len(q.queued) > 0 {
		return q.perUser > 0
	}
	for owner := range q.held {
		if q.atLimit(owner) {
			return true
		}
	}
	return false
}

// ahead counts the jobs that go before the one at index i of its owner: every other owner gets as many turns, and owners whose
// turn is earlier get one more.
func (q *Queue) ahead(owner string, i int) int {
	n, earlier := i, true
	for _, other := range q.turns {
		turns := i
		switch {
		case other == owner:
			earlier = false
			continue
		case earlier:
			turns++
		}
		n += min(turns, len(q.waiting[other]))
	}
	return n
}

// admit fills the free slots and those of jobs that yield, and calls onAdmit for each admitted job but the one that is just asking.
func (q *Queue) admit(asking string) {
	for {
		i := slices.IndexFunc(q.turns, func(owner string) bool { return !q.atLimit(owner) && q.hasRoom(owner) })
		if i < 0 {
			return
		}
		owner := q.turns[i]
		q.makeRoom(owner)
		w := q.waiting[owner][0]
		q.turns = append(slices.Delete(q.turns, i, i+1), owner) // its next turn is after all others
		q.remove(owner, 0)
		q.hold(w.run, owner)
		if w.run != asking {
			q.onAdmit(w.run)
		}
	}
}

// hasRoom reports whether a job of the owner can have a slot now.
func (q *Queue) hasRoom(owner string) bool {
	return q.slots == 0 || len(q.admitted) < q.slots || q.yieldingTo(owner) != ""
}

// yieldingTo returns a job that gives its slot up for one of the owner, empty for none.
func (q *Queue) yieldingTo(owner string) string {
	if len(q.aside) >= q.slots {
		return ""
	}
	for _, run := range slices.Sorted(maps.Keys(q.yielding)) {
		if q.yielding[run] != owner {
			return run
		}
	}
	return ""
}

// makeRoom puts a job aside unless a slot is free.
func (q *Queue) makeRoom(owner string) {
	if q.slots == 0 || len(q.admitted) < q.slots {
		return
	}
	run := q.yieldingTo(owner)
	q.aside[run] = q.admitted[run]
	q.release(run)
}

// release frees the slot of an admitted job.
func (q *Queue) release(run string) {
	owner := q.admitted[run]
	delete(q.admitted, run)
	delete(q.yielding, run)
	if q.held[owner]--; q.held[owner] == 0 {
		delete(q.held, owner)
	}
}

func (q *Queue) hold(run, owner string) {
	if _, admitted := q.admitted[run]; !admitted {
		q.admitted[run] = owner
		q.held[owner]++
	}
}

// atLimit reports whether the owner holds as many slots as one user may.
func (q *Queue) atLimit(owner string) bool { return q.perUser > 0 && q.held[owner] >= q.perUser }

func (q *Queue) join(owner string, w *waiter) {
	jobs := q.waiting[owner]
	if len(jobs) == 0 {
		q.turns = append(q.turns, owner)
	}
	i, _ := slices.BinarySearchFunc(jobs, w, byAge)
	q.waiting[owner] = slices.Insert(jobs, i, w)
	q.queued[w.run] = owner
}

func byAge(a, b *waiter) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.run, b.run)) }

// find returns the owner of a waiting job and its index among the waiting jobs of that owner, -1 if it does not wait.
func (q *Queue) find(run string) (owner string, i int) {
	owner, queued := q.queued[run]
	if !queued {
		return "", -1
	}
	return owner, slices.IndexFunc(q.waiting[owner], func(w *waiter) bool { return w.run == run })
}

func (q *Queue) remove(owner string, i int) {
	delete(q.queued, q.waiting[owner][i].run)
	q.waiting[owner] = slices.Delete(q.waiting[owner], i, i+1)
	if len(q.waiting[owner]) == 0 {
		delete(q.waiting, owner)
		q.turns = slices.DeleteFunc(q.turns, func(o string) bool { return o == owner })
	}
}
