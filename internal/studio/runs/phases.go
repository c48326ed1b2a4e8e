package runs

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Phase is a part of the life of a run.
type Phase struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	// Text is the time in words, empty for a phase that has not begun.
	Text string `json:"-"`
	Now  bool   `json:"now,omitempty"`
}

// phaseWords are the phases of the trainer in their order, as people call them. A script has its own.
var phaseWords = []struct{ phase, name string }{
	{"start", "Starting"}, {"prepare", "Data"}, {"train", "Training"}, {results.PhaseScript, "Script"}, {"test", "Test"}, {"predict", "Predicting"}, {"export", "Saving"},
}

// phases are the times that the phases of the present attempt took, the waiting before it first.
func phases(events []results.Event, rec job.Record) []Phase {
	spent, begun := map[string]time.Duration{}, map[string]bool{}
	var current string
	var since time.Time
	for _, e := range events {
		if e.Attempt != rec.Attempt {
			continue
		}
		if current != "" && e.Time.After(since) {
			spent[current] += e.Time.Sub(since)
		}
		since = e.Time
		switch e.Kind {
		case results.KindPhase:
			current = e.Phase
		case results.KindStarted:
			current = results.PhaseScript
		default: // no other event begins a phase
		}
		begun[current] = true
	}
	var out []Phase
	if !rec.Trained.IsZero() && rec.Trained.After(rec.Created) && rec.Attempt == 1 {
		out = append(out, newPhase("Waiting", rec.Trained.Sub(rec.Created), false))
	}
	for _, p := range phaseWords {
		if begun[p.phase] {
			out = append(out, newPhase(p.name, spent[p.phase], p.phase == current && rec.State == job.Running))
		}
	}
	return out
}

func newPhase(name string, d time.Duration, now bool) Phase {
	return Phase{Name: name, Seconds: d.Seconds(), Text: text.Duration(d), Now: now}
}
