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
}

func newFollower(v Volume) *follower {
	return &follower{volume: v, since: time.Now(), logs: map[string]*followed{}}
}

// read returns how far the run is and the sentences about it that are new. One run is never read twice at once.
func (f *follower) read(run string) (results.Progress, []string, error) {
	f.mu.Lock()
	l := f.logs[run]
	if l == nil {
		l = &followed{tail: results.NewTail(f.volume.Run(run)), heard: time.Now()}
		f.logs[run] = l
	}
	f.mu.Unlock()

	var news []string
	for {
		events, err := l.tail.Next()
		if len(events) > 0 {
			l.heard = time.Now()
		}
		for _, e := range events {
			before := len(l.progress.Warnings)
			l.progress.Fold(e)
			if e.Time.Before(f.since) {
				continue
			}
			switch {
			case len(l.progress.Warnings) > before:
				news = append(news, "Note: "+e.Text)
			case e.Kind == results.KindDecision && spoken(e.What):
				news = append(news, e.Why)
			}
		}
		if err != nil || len(events) == 0 {
			return l.progress, news, err
		}
	}
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
