package disk

import "sync"

// Together does one piece of work for all callers that ask for it at the same time, as a sync, which costs one write to the disk for any number
// of changes. The zero value is ready to use, and safe for concurrent use.
type Together struct {
	mu   sync.Mutex
	next *round        // nil: nobody waits
	last chan struct{} // of the round that was begun last, or will be; nil: none
}

// round is one call of the work. Its err may be read once done is closed.
type round struct {
	err         error
	after, done chan struct{}
}

// Do returns what work returned in a call that began after Do was called: in this call of Do or in another one.
func (t *Together) Do(work func() error) error {
	r, first := t.join()
	if !first {
		<-r.done
		return r.err
	}
	if r.after != nil {
		<-r.after
	}
	t.close()
	r.err = work()
	close(r.done)
	return r.err
}

// join returns the round that begins next, and whether the caller is the first in it, who does its work.
func (t *Together) join() (r *round, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next == nil {
		t.next, first = &round{after: t.last, done: make(chan struct{})}, true
		t.last = t.next.done
	}
	return t.next, first
}

// close ends the waiting round: callers from now on wait for the next one, because this round's work may not see their changes.
func (t *Together) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = nil
}
