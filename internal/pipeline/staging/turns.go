package staging

import (
	"sync"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// maxKept is how many files the jobs that let others go first may keep in memory, all together: about 50 MB. A job beyond it begins its next turn as
// after a kill: it lists and downloads nothing again, but puts its files into their places once more.
const maxKept = 100_000

// turn is how far the staging of a job is.
type turn struct {
	// rec has all that was decided about the job, own and left are the files of its dataset and those that it does without.
	rec  job.Record
	own  []job.Input
	left []job.NotRead
	kept platform.Kept
}

func (t turn) files() int { return len(t.own) + t.kept.Files }

func (t turn) close() error {
	if t.kept.Part == nil {
		return nil
	}
	return t.kept.Part.Close()
}

// Turns are the jobs of many datasets that let others go first and go on later. The zero value has none. It is safe for concurrent use.
type Turns struct {
	mu    sync.Mutex
	kept  map[string]turn
	files int // of all kept turns
}

// take returns how far a job is, and what was decided about it, in the record as it is now. It reports false if nothing is kept of the job.
func (t *Turns) take(rec job.Record) (turn, bool) {
	one, found := t.remove(rec.Run)
	decided := one.rec
	one.rec = rec
	if found {
		one.rec.Settings, one.rec.Resolved, one.rec.SettingsFile = decided.Settings, decided.Resolved, decided.SettingsFile
		one.rec.Model, one.rec.Script = decided.Model, decided.Script
	}
	return one, found
}

// keep keeps how far a job is until its next turn, unless too much is kept already.
func (t *Turns) keep(one turn) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.kept.Part == nil || t.files+one.files() > maxKept {
		return one.close()
	}
	if t.kept == nil {
		t.kept = map[string]turn{}
	}
	t.kept[one.rec.Run] = one
	t.files += one.files()
	return nil
}

// Forget drops what is kept of a job that is over.
func (t *Turns) Forget(run string) {
	one, _ := t.remove(run)
	_ = one.close() // nothing is written through it
}

func (t *Turns) remove(run string) (turn, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, found := t.kept[run]
	if found {
		delete(t.kept, run)
		t.files -= one.files()
	}
	return one, found
}
