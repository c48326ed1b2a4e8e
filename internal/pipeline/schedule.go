package pipeline

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// schedule says which run is due when. A run is in at most one of two places: waiting in the heap, or taken by a worker;
// so no run is ever worked on twice at once. It is rebuilt from the store at every start.
type schedule struct {
	mu      sync.Mutex
	waiting dueHeap
	entries map[string]*entry
	wake    chan struct{} // size 1: one pending signal is enough, the loop looks at everything
}

type entry struct {
	run   string
	due   time.Time
	index int  // in the heap, -1 while taken
	again bool // touched while taken: due at once when it comes back
}

func newSchedule() *schedule {
	return &schedule{entries: map[string]*entry{}, wake: make(chan struct{}, 1)}
}

// touch makes run due at once, adding it if it is new.
func (s *schedule) touch(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.entries[run]
	switch {
	case !known:
		s.push(&entry{run: run})
	case e.index < 0:
		e.again = true
	default:
		e.due = time.Time{}
		heap.Fix(&s.waiting, e.index)
	}
	s.signal()
}

// add makes a run due at a later time, adding it if it is new.
func (s *schedule) add(run string, due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.entries[run]
	switch {
	case !known:
		s.push(&entry{run: run, due: due})
	case e.index < 0:
		e.again = true // whoever has it may not look when it is due
		return
	default:
		e.due = due
		heap.Fix(&s.waiting, e.index)
	}
	s.signal()
}

// take removes the first run that is due from the heap. Where none is, it says how long to wait for the next; 0 means
// that nothing waits at all.
func (s *schedule) take(now time.Time) (run string, wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return "", 0, false
	}
	if wait := s.waiting[0].due.Sub(now); wait > 0 {
		return "", wait, false
	}
	return heap.Pop(&s.waiting).(*entry).run, 0, true
}

// work hands the runs to do as they are due, up to limit at a time, until ctx ends and no run is taken. do puts its run back or
// drops it, unless ctx has ended.
func (s *schedule) work(ctx context.Context, limit int, do func(run string)) {
	var hands errgroup.Group
	hands.SetLimit(limit)
	defer func() { _ = hands.Wait() }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		run, wait, ok := s.take(time.Now())
		if ok {
			hands.Go(func() error { do(run); return nil })
			continue
		}
		if wait > 0 {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// put gives a taken run back, due after d.
func (s *schedule) put(run string, now time.Time, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[run]
	e.due = now.Add(d)
	if e.again {
		e.again, e.due = false, now
	}
	heap.Push(&s.waiting, e)
	s.signal()
}

// hold takes a run that is not scheduled, because its job is over, and keeps everybody else from it until it is dropped. It
// reports false where the run is scheduled or somebody has it.
func (s *schedule) hold(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[run] != nil {
		return false
	}
	s.entries[run] = &entry{run: run, index: -1}
	return true
}

// drop forgets a taken run: its job is over. One that was touched meanwhile, because its job begins anew, is due at once.
func (s *schedule) drop(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[run]
	delete(s.entries, run)
	if e.again {
		s.push(&entry{run: run})
	}
	s.signal()
}

// has reports whether run is scheduled or being worked on.
func (s *schedule) has(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[run] != nil
}

func (s *schedule) push(e *entry) {
	s.entries[e.run] = e
	heap.Push(&s.waiting, e)
}

func (s *schedule) signal() {
	select {
	case s.wake <- struct{}{}:
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
