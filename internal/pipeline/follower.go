package pipeline

import (
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
)

// follower reads the event logs of the running trainings, each from where it stopped the last time. After a restart it reads
// a log from its beginning, but tells only what is new.
type follower struct {
	volume Volume
	since  time.Time

	mu   sync.Mutex
	logs map[string]*followed
}

type followed struct {
	tail     *results.Tail
	progress results.Progress
	heard    time.Time
	told     int // sentences
}

const (
	// readsAtOnce bounds how much of one log a single look reads, in calls of Next: a log that grows faster than it is read must
	// not keep the service from the other jobs.
	readsAtOnce = 4
	// maxNews bounds how many notes and decisions of one run its user reads while waiting; the report has more.
	maxNews = 50
)

func newFollower(v Volume) *follower {
	return &follower{volume: v, since: time.Now(), logs: map[string]*followed{}}
}

// read returns how far the attempt of a run is and the sentences about it that are new. Events of a later attempt are none of the
// service's making and count nothing. One run is never read twice at once.
func (f *follower) read(run string, attempt int) (results.Progress, []string, error) {
	f.mu.Lock()
	l := f.logs[run]
	if l == nil {
		l = &followed{tail: results.NewTail(f.volume.Run(run)), heard: time.Now()}
		f.logs[run] = l
	}
	f.mu.Unlock()

	var news []string
	for range readsAtOnce {
		events, err := l.tail.Next()
		if len(events) > 0 {
			l.heard = time.Now()
		}
		for _, e := range events {
			if e.Attempt > attempt {
				continue
			}
			if text := l.fold(e); text != "" && !e.Time.Before(f.since) && l.told < maxNews {
				l.told++
				news = append(news, text)
			}
		}
		if err != nil || len(events) == 0 {
			return l.progress, news, err
		}
	}
	return l.progress, news, nil
}

// fold takes one more event into account and returns what its user wants to read about it, empty for nothing new.
func (l *followed) fold(e results.Event) string {
	warnings, decisions := len(l.progress.Warnings), len(l.progress.Decisions)
	l.progress.Fold(e)
	switch {
	case len(l.progress.Warnings) > warnings:
		return "Note: " + e.Text
	case len(l.progress.Decisions) > decisions && spoken(e.What):
		return e.Why
	default:
		return ""
	}
}

// flooded reports whether a run has written more events than are read of one.
func (f *follower) flooded(run string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.logs[run].tail.Full()
}

// spoken reports whether a user wants to hear of a decision while waiting; the report holds all of them.
func spoken(what string) bool {
	switch what {
	case "task", "text_column", "label_column", "model":
		return true
	default:
		return false
	}
}

// silence is how long this process has read nothing new about a run that it has read before. The times of the events do not
// count: they are those of another machine.
func (f *follower) silence(run string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.logs[run].heard)
}

// forget drops a run that is over.
func (f *follower) forget(run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.logs, run)
}
