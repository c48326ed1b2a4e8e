package pipeline

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// placeNews is the shortest time between two tellings of a job's place in a line.
const placeNews = 30 * time.Second

// gate lets a bounded number of jobs through at a time. Those that wait do so in fair order: the users take turns, and of
// each user the oldest job goes first, so that a hundred jobs of one user keep nobody else waiting for more than one of them.
//
// It is kept in memory only. After a restart jobs that are on their way are seated again and the others ask anew.
type gate struct {
	// what is waited for, in the words of its users; empty where nobody needs to know.
	what string
	// places bounds the jobs inside, each those of one owner; 0 does not.
	places, each int
	// call is told of a job that got its place while it waited. It is called with the gate locked.
	call func(run string)

	mu     sync.Mutex
	inside map[string]string // run → owner
	queued map[string]string // run → owner, of those that wait
	busy   map[string]int    // owner → jobs inside
	// waiting holds the queued jobs of each owner, oldest first; turns names these owners, the next one first.
	waiting map[string][]*waiter
	turns   []string
}

// waiter is one job that waits.
type waiter struct {
	run   string
	since time.Time
	// told is when its place was told the last time, and turn what was told.
	told time.Time
	turn turn
}

// turn is the place of a job that waits.
type turn struct {
	// before is how many jobs will go first.
	before int
	// own says that it waits for jobs of its own user, of whom no more are let in.
	own bool
}

func newGate(places, each int, call func(run string)) *gate {
	return &gate{
		places: places, each: each, call: call,
		inside: map[string]string{}, queued: map[string]string{}, busy: map[string]int{}, waiting: map[string][]*waiter{},
	}
}

// enter lets a job in, or puts it into the line, where since says how old it is. A job that is inside stays so until it
// leaves; one that waits is called.
func (g *gate) enter(run, owner string, since time.Time) (inside bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, inside := g.inside[run]; inside {
		return true
	}
	if _, queued := g.queued[run]; !queued {
		g.join(owner, &waiter{run: run, since: since})
	}
	g.admit(run)
	_, inside = g.inside[run]
	return inside
}

// seat lets a job in that is inside already, whether there is a place or not.
func (g *gate) seat(run, owner string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sit(run, owner)
}

// leave frees the place of a job, or takes it out of the line. A job that is not here may leave as well.
func (g *gate) leave(run string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if owner, inside := g.inside[run]; inside {
		delete(g.inside, run)
		if g.busy[owner]--; g.busy[owner] == 0 {
			delete(g.busy, owner)
		}
	} else if owner, i := g.find(run); i >= 0 {
		g.remove(owner, i)
	}
	g.admit("")
}

// news returns the place of a job that waits where there is something new to tell.
func (g *gate) news(run string, now time.Time) (turn, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	owner, i := g.find(run)
	if i < 0 {
		return turn{}, false
	}
	w := g.waiting[owner][i]
	t := turn{before: i, own: g.full(owner)}
	if !t.own {
		t.before = g.before(owner, i)
	}
	if !w.told.IsZero() && (t == w.turn || now.Sub(w.told) < placeNews) {
		return t, false
	}
	w.told, w.turn = now, t
	return t, true
}

// size is how many jobs are inside and how many wait.
func (g *gate) size() (inside, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.inside), len(g.queued)
}

// of is how many jobs of the owner are inside.
func (g *gate) of(owner string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy[owner]
}

// contended reports whether jobs wait, or would wait if their owner brought another one, where each owner has a share.
func (g *gate) contended() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.each == 0 || len(g.queued) > 0 {
		return g.each > 0
	}
	for owner := range g.busy {
		if g.full(owner) {
			return true
		}
	}
	return false
}

// before counts the jobs that go before the one at index i of its owner: all others get as many turns, and those whose turn
// comes earlier one more.
func (g *gate) before(owner string, i int) int {
	n, earlier := i, true
	for _, other := range g.turns {
		turns := i
		switch {
		case other == owner:
			earlier = false
			continue
		case earlier:
			turns++
		}
		n += min(turns, len(g.waiting[other]))
	}
	return n
}

// admit lets in as many as there are places for, and calls all of them but the one that is just asking.
func (g *gate) admit(asking string) {
	for g.places == 0 || len(g.inside) < g.places {
		i := slices.IndexFunc(g.turns, func(owner string) bool { return !g.full(owner) })
		if i < 0 {
			return
		}
		owner := g.turns[i]
		w := g.waiting[owner][0]
		g.turns = append(slices.Delete(g.turns, i, i+1), owner) // its next turn is after all others
		g.remove(owner, 0)
		g.sit(w.run, owner)
		if w.run != asking {
			g.call(w.run)
		}
	}
}

func (g *gate) sit(run, owner string) {
	if _, inside := g.inside[run]; !inside {
		g.inside[run] = owner
		g.busy[owner]++
	}
}

// full reports whether no more jobs of the owner are let in.
func (g *gate) full(owner string) bool { return g.each > 0 && g.busy[owner] >= g.each }

func (g *gate) join(owner string, w *waiter) {
	queue := g.waiting[owner]
	if len(queue) == 0 {
		g.turns = append(g.turns, owner)
	}
	i, _ := slices.BinarySearchFunc(queue, w, older)
	g.waiting[owner] = slices.Insert(queue, i, w)
	g.queued[w.run] = owner
}

func older(a, b *waiter) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.run, b.run)) }

// find returns the owner of a job that waits and its index among that owner's, -1 where it does not wait.
func (g *gate) find(run string) (owner string, i int) {
	owner, queued := g.queued[run]
	if !queued {
		return "", -1
	}
	return owner, slices.IndexFunc(g.waiting[owner], func(w *waiter) bool { return w.run == run })
}

func (g *gate) remove(owner string, i int) {
	delete(g.queued, g.waiting[owner][i].run)
	g.waiting[owner] = slices.Delete(g.waiting[owner], i, i+1)
	if len(g.waiting[owner]) == 0 {
		delete(g.waiting, owner)
		g.turns = slices.DeleteFunc(g.turns, func(o string) bool { return o == owner })
	}
}
