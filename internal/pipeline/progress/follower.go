// Package progress reads the event logs of running trainings and writes their progress for users.
package progress

import (
	"fmt"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Follower reads the event logs of running trainings, each from where it stopped the last time. After a restart it reads a log from
// the beginning, but returns only notes that are newer than the restart.
type Follower struct {
	folder func(run string) disk.Folder
	since  time.Time

	mu   sync.Mutex
	logs map[string]*log // by run
}

// log is the event log of one run, as far as it was read.
type log struct {
	tail     *results.Tail
	progress results.Progress
	lastRead time.Time // when there was something new
	notes    int       // how many notes were returned
}

const (
	// readsAtOnce bounds how much of one log a single Read reads, in calls of Next: a log that grows faster than it is read must
	// not keep the service from the other jobs.
	readsAtOnce = 4
	// maxNotes bounds how many notes of one run its user gets while it runs; the report has all of them.
	maxNotes = 50
	// severe is the severity of findings that a user reads while the script runs; the report has all of them.
	severe = "high"
)

// NewFollower returns a follower of the runs in the given folders.
func NewFollower(folder func(run string) disk.Folder) *Follower {
	return &Follower{folder: folder, since: time.Now(), logs: map[string]*log{}}
}

// Read returns the progress of an attempt, and the notes about it that are new. Events of a later attempt are ignored: the service
// did not start it. Read must not be called for one run by two callers at once.
func (f *Follower) Read(run string, attempt int) (results.Progress, []string, error) {
	f.mu.Lock()
	l := f.logs[run]
	if l == nil {
		l = &log{tail: results.NewTail(f.folder(run)), lastRead: time.Now()}
		f.logs[run] = l
	}
	f.mu.Unlock()

	var notes []string
	for range readsAtOnce {
		events, err := l.tail.Next()
		if len(events) > 0 {
			l.lastRead = time.Now()
		}
		for _, e := range events {
			if e.Attempt > attempt {
				continue
			}
			if note := l.fold(e); note != "" && !e.Time.Before(f.since) && l.notes < maxNotes {
				l.notes++
				notes = append(notes, note)
			}
		}
		if err != nil || len(events) == 0 {
			return l.progress, notes, err
		}
	}
	return l.progress, notes, nil
}

// fold adds one event to the progress and returns what its user should read about it, empty for nothing.
func (l *log) fold(e results.Event) string {
	warnings, decisions := len(l.progress.Warnings), len(l.progress.Decisions)
	l.progress.Fold(e)
	switch {
	case len(l.progress.Warnings) > warnings:
		return "Note: " + e.Text
	case len(l.progress.Decisions) > decisions && isNote(e.What):
		return e.Why
	case e.Kind == results.KindFinding && e.Severity == severe:
		return fmt.Sprintf("Note: the check of the code found in %s, line %d: %s", text.Excerpt(e.File, 80), e.Line, e.Text)
	default:
		return ""
	}
}

// isNote reports whether a user should read about a decision while waiting; the report has all of them.
func isNote(what string) bool {
	switch what {
	case "kind", "task", "text_column", "label_column", "ignored_files", "model", "script":
		return true
	default:
		return false
	}
}

// Flooded reports whether a run has written more events than are read of one run.
func (f *Follower) Flooded(run string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.logs[run].tail.Full()
}

// Silence returns how long Read has found nothing new about a run. The times of the events do not count, because they come from the
// clock of another machine.
func (f *Follower) Silence(run string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.logs[run].lastRead)
}

// Forget drops a run that is over.
func (f *Follower) Forget(run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.logs, run)
}
