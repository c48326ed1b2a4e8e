// Package schedule is a delayed work queue: it says which run is due when, and hands due runs to a bounded number of workers.
package schedule

import (
	"container/heap"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Queue holds runs with the time at which each is due. A run is either waiting in the heap or taken by one worker, so no run is
// ever worked on twice at once. The queue is kept in memory and rebuilt from the store at every start.
type Queue struct {
	mu      sync.Mutex
	waiting dueHeap
	entries map[string]*entry
	wake    chan struct{} // size 1: one pending signal is enough, the loop looks at everything
}

type entry struct {
	run   string
	due   time.Time
	index int  // in the heap, -1 while taken
	dirty bool // added while taken: due at once when it comes back
}

// New returns an empty queue.
func New() *Queue {
	return &Queue{entries: map[string]*entry{}, wake: make(chan struct{}, 1)}
}

// Add makes run due now, after the runs that were due before. A run that is taken is due again as soon as its worker is done.
func (q *Queue) Add(run string) { q.AddAt(run, time.Now()) }

// AddAt makes run due at the given time, in place of an earlier time. A run that is taken is due again as soon as its worker is
// done, because that worker may not have seen what it was added for.
func (q *Queue) AddAt(run string, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, known := q.entries[run]
	switch {
	case !known:
		q.push(&entry{run: run, due: due})
	case e.index < 0:
		e.dirty = true
		return
	default:
		e.due = due
		heap.Fix(&q.waiting, e.index)
	}
	q.signal()
}

// get takes the first run that is due. Where none is due, wait is the time until the next one; 0 means that nothing waits.
func (q *Queue) get(now time.Time) (run string, wait time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return "", 0, false
	}
	if wait := q.waiting[0].due.Sub(now); wait > 0 {
		return "", wait, false
	}
	return heap.Pop(&q.waiting).(*entry).run, 0, true
}

// Work calls do with each run that is due, at most workers at a time, until ctx ends and every call has returned. Unless ctx has
// ended, do calls Requeue or Done for its run.
func (q *Queue) Work(ctx context.Context, workers int, do func(run string)) {
	c := &workerGroup{most: int64(workers), do: do, handed: make(chan string)}
	defer c.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		run, wait, ok := q.get(time.Now())
		if ok {
			c.give(run)
			continue
		}
		if wait > 0 {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-timer.C:
		}
	}
}

// lingering is how many workers wait for more work when they have none. A new goroutine for each of a thousand short looks would grow its
// stack each time, which takes longer than the look.
const lingering = 8

// workerGroup are the goroutines of one call of Work.
type workerGroup struct {
	most int64
	do   func(run string)
	// handed takes runs to workers that wait.
	handed chan string
	// working counts all workers, idle those that wait.
	working, idle atomic.Int64
	ended         sync.WaitGroup
}

// give hands run to a worker that waits, or to a new one; where there are as many as may be, it waits for one. Before it starts a new one it
// lets those go on that can: a worker with a short look is back after that.
func (c *workerGroup) give(run string) {
	for range 2 {
		select {
		case c.handed <- run:
			return
		default:
			runtime.Gosched()
		}
	}
	if c.working.Load() >= c.most {
		c.handed <- run
		return
	}
	c.working.Add(1)
	c.ended.Go(func() { c.work(run) })
}

func (c *workerGroup) work(run string) {
	defer c.working.Add(-1)
	for ok := true; ok; {
		c.do(run)
		if c.idle.Add(1) > lingering { // enough others wait
			c.idle.Add(-1)
			return
		}
		run, ok = <-c.handed
		c.idle.Add(-1)
	}
}

// end returns when every worker has ended.
func (c *workerGroup) end() {
	close(c.handed)
	c.ended.Wait()
}

// grid is the distance between the moments at which long waits end.
const grid = 250 * time.Millisecond

// Together returns a wait near the given one that ends at the same moment as many others. The process then wakes up a few times a second and not
// for each of hundreds of runs, and a wake-up takes longer than a look. A wait of at least a second moves by an eighth of a second at most, a
// shorter one stays.
func Together(now time.Time, wait time.Duration) time.Duration {
	if wait < time.Second {
		return wait
	}
	end := now.Add(wait)
	return wait + end.Round(grid).Sub(end.Round(0))
}

// Requeue gives a taken run back; it is due after the given time, or at once if it was added meanwhile.
func (q *Queue) Requeue(run string, now time.Time, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[run]
	e.due = now.Add(after)
	if e.dirty {
		e.dirty, e.due = false, now
	}
	heap.Push(&q.waiting, e)
	q.signal()
}

// Reserve takes a run that is not in the queue, so that no worker gets it before Done. It reports false if the run is in the queue
// or taken.
func (q *Queue) Reserve(run string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.entries[run] != nil {
		return false
	}
	q.entries[run] = &entry{run: run, index: -1}
	return true
}

// Done removes a taken run. If it was added meanwhile, because its job was retried, it is due at once.
func (q *Queue) Done(run string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[run]
	delete(q.entries, run)
	if e.dirty {
		q.push(&entry{run: run, due: time.Now()})
	}
	q.signal()
}

// Has reports whether run is waiting or taken.
func (q *Queue) Has(run string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.entries[run] != nil
}

func (q *Queue) push(e *entry) {
	q.entries[e.run] = e
	heap.Push(&q.waiting, e)
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// dueHeap implements heap.Interface, the earliest first.
type dueHeap []*entry

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *dueHeap) Push(x any) {
	e := x.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.index = -1
	return e
}
