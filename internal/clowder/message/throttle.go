package message

import (
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/text"
)

// The gaps between statuses. Clowder v2 handles statuses concurrently without a lock, so two statuses in quick succession may be stored
// in the wrong order, and a finished job would stay PROCESSING. The page also redraws all lines every 10 s.
const (
	statusGap      = time.Second
	progressFirst  = 3 * time.Second // for the first progressQuick lines, so that a short training shows progress
	progressQuick  = 10
	progressGap    = 10 * time.Second
	progressLines  = 150
	progressSlower = 10
	maxWaiting     = 8
)

// Throttle decides when the next status of one job may be sent. It starts no goroutine and reads no clock: the caller offers statuses,
// asks Next which status may be sent now, publishes it, and calls Sent. It is not safe for concurrent use: one goroutine publishes the
// statuses of a job and owns the Throttle.
//
// Statuses keep their order and are at least one second apart, including the terminal one. Of several passing lines only the newest
// one waits, so that a short job ends without delay. The first ten progress lines are three seconds apart, the next ones ten, and after
// 150 lines a hundred. Nothing is sent after a terminal status.
type Throttle struct {
	// KeepsOrder says that the reader shows statuses in the order in which they were sent, so that they need no second between them.
	KeepsOrder bool

	waiting      []Status
	last         time.Time
	lastProgress time.Time
	progressSent int
	closed       bool
	// out is true while the first waiting status may be in flight. Nothing replaces it before Sent.
	out bool
}

// Offer queues s and reports whether it was accepted: after a terminal status nothing is. It drops a passing line that is waiting,
// because s is newer and must not wait for it. A note joins a note that waits last, and a terminal status takes it over, as long as the
// text is short enough: the end of a job waits for no note.
func (t *Throttle) Offer(s Status) bool {
	if t.closed {
		return false
	}
	if last := len(t.waiting) - 1; last >= t.firstQueued() && (t.waiting[last].Passing || t.waiting[last].Progress) {
		t.waiting = t.waiting[:last]
	}
	if s.Note {
		s.Text = text.Excerpt(s.Text, maxStatusText)
	}
	if last := len(t.waiting) - 1; last >= t.firstQueued() && s.Note && t.waiting[last].join(s) {
		return true
	}
	if s.Kind.Terminal() {
		t.take(&s)
	}
	if len(t.waiting) >= maxWaiting {
		t.dropOldest()
	}
	t.closed = s.Kind.Terminal()
	t.waiting = append(t.waiting, s)
	return true
}

// Next returns the status to send at the time now. If ok is false, call Next again after wait; a wait of 0 means that nothing is queued.
// Next returns the same status until Sent is called.
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

// firstQueued is the index of the first status that is not in flight.
func (t *Throttle) firstQueued() int {
	if t.out {
		return 1
	}
	return 0
}

// Sent records that the status from Next was published at the time now. If a status could not be published, do not call Sent: Next
// returns it again.
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

// Finished reports whether the terminal status was sent.
func (t *Throttle) Finished() bool { return t.closed && len(t.waiting) == 0 }

// due is the earliest time at which s may be sent. It is the zero time if nothing was sent before.
func (t *Throttle) due(s Status) time.Time {
	if t.last.IsZero() {
		return time.Time{}
	}
	due := t.last
	if !t.KeepsOrder {
		due = due.Add(statusGap)
	}
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

// dropOldest drops the oldest status that is not the start, because the start sets the start time in Clowder.
func (t *Throttle) dropOldest() {
	for i := t.firstQueued(); i < len(t.waiting); i++ {
		if t.waiting[i].Kind != StatusStart {
			t.waiting = slices.Delete(t.waiting, i, i+1)
			return
		}
	}
}

// take moves the text of a note that waits last to the front of an end. Nothing changes if the text would be too long for an end.
func (t *Throttle) take(end *Status) {
	last := len(t.waiting) - 1
	if last < t.firstQueued() || !t.waiting[last].Note {
		return
	}
	joined := ended(t.waiting[last].Text) + " " + end.Text
	if utf8.RuneCountInString(joined) > maxStatusText {
		return
	}
	end.Text, t.waiting = joined, t.waiting[:last]
}

// join adds the text of another note to a note and takes its time. It reports false, and changes nothing, if s is no note or the text
// would be too long.
func (s *Status) join(note Status) bool {
	if !s.Note {
		return false
	}
	joined := ended(s.Text) + " " + note.Text
	if utf8.RuneCountInString(joined) > maxNotesText {
		return false
	}
	s.Text, s.At = joined, note.At
	return true
}

// ended returns a note with a mark at its end, so that another one can follow.
func ended(note string) string {
	if last, _ := utf8.DecodeLastRuneInString(note); unicode.IsLetter(last) || unicode.IsDigit(last) {
		return note + "."
	}
	return note
}
