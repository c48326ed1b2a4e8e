package message

import (
	"slices"
	"time"
)

// The gaps that Clowder v2 needs: it handles statuses concurrently without a lock, so two that come close together may be
// stored in the wrong order and leave a finished job as PROCESSING. Every line is also drawn again every 10 s by the page.
const (
	statusGap      = time.Second
	progressFirst  = 3 * time.Second // for the first progressQuick lines, so that a short training is seen to move
	progressQuick  = 10
	progressGap    = 10 * time.Second
	progressLines  = 150
	progressSlower = 10
	maxWaiting     = 8
)

// Throttle decides when the next status of one job may go. It starts nothing and reads no clock: the caller offers
// statuses, asks Next what may go at a time, publishes that, and reports it with Sent. It is not safe for concurrent use;
// the one goroutine that publishes the statuses of a job owns it.
//
// It keeps statuses at least a second apart, the terminal one included, and the order in which they were offered. Of passing
// lines only the newest waits, so that a short job ends as soon as it is done. The first ten progress lines are spaced by three
// seconds, the others by ten, by a hundred after 150 of them. Nothing goes after a terminal status.
type Throttle struct {
	waiting      []Status
	last         time.Time
	lastProgress time.Time
	progressSent int
	closed       bool
	// out says that the first of waiting may be on its way: nothing takes its place before Sent.
	out bool
}

// Offer queues s and reports whether it will be sent; it is refused after a terminal status. A waiting passing line is dropped:
// whatever is newer says more, and must not wait behind it.
func (t *Throttle) Offer(s Status) bool {
	if t.closed {
		return false
	}
	if last := len(t.waiting) - 1; last >= t.here() && (t.waiting[last].Passing || t.waiting[last].Progress) {
		t.waiting = t.waiting[:last]
	}
	if len(t.waiting) >= maxWaiting {
		t.dropOldest()
	}
	t.closed = s.Kind.Terminal()
	t.waiting = append(t.waiting, s)
	return true
}

// Next returns the status to send at now. Where ok is false, wait is how long to wait before asking again; zero means that
// nothing is queued. The same status is returned until Sent says that it went.
func (t *Throttle) Next(now time.Time) (s Status, wait time.Duration, ok bool) {
	if len(t.waiting) == 0 {
		return Status{}, 0, false
	}
	s = t.waiting[0]
	if wait = t.due(s).Sub(now); wait > 0 {
		return Status{}, wait, false
	}
	t.out = true
	return s, 0, true
}

// here is the index of the first status that is surely not on its way.
func (t *Throttle) here() int {
	if t.out {
		return 1
	}
	return 0
}

// Sent says that the status that Next returned was published at now; a status that could not be published is not
// reported and comes again.
func (t *Throttle) Sent(now time.Time) {
	if len(t.waiting) == 0 {
		return
	}
	if t.waiting[0].Progress {
		t.lastProgress = now
		t.progressSent++
	}
	t.last, t.out = now, false
	t.waiting = t.waiting[1:]
}

// Finished reports whether the terminal status was offered and sent.
func (t *Throttle) Finished() bool { return t.closed && len(t.waiting) == 0 }

// due is the earliest time at which s may go; the zero time where nothing went before.
func (t *Throttle) due(s Status) time.Time {
	if t.last.IsZero() {
		return time.Time{}
	}
	due := t.last.Add(statusGap)
	if s.Progress && !t.lastProgress.IsZero() {
		gap := progressGap
		switch {
		case t.progressSent < progressQuick:
			gap = progressFirst
		case t.progressSent >= progressLines:
			gap *= progressSlower
		}
		if slow := t.lastProgress.Add(gap); slow.After(due) {
			due = slow
		}
	}
	return due
}

// dropOldest makes room by forgetting the oldest line that is not the start, which sets Clowder's clock.
func (t *Throttle) dropOldest() {
	for i := t.here(); i < len(t.waiting); i++ {
		if t.waiting[i].Kind != StatusStart {
			t.waiting = slices.Delete(t.waiting, i, i+1)
			return
		}
	}
}
