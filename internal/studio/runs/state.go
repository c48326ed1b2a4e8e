package runs

import (
	"hash/fnv"
	"slices"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
)

// State is how a run stands, for a person. Word and Sign together say it without colour.
type State struct {
	// Name is one of the names of states, for filters and style classes; Word is what a person reads.
	Name string `json:"name"`
	Word string `json:"word"`
	Sign string `json:"-"`
	// Over says that nothing follows.
	Over bool `json:"over"`
}

// The names of states that a list can be filtered by.
const (
	StateWaiting   = "waiting"
	StateRunning   = "running"
	StateDone      = "done"
	StateFailed    = "failed"
	StateCancelled = "cancelled"
)

// StateNames are the names of states in the order of a life.
func StateNames() []string {
	return []string{StateWaiting, StateRunning, StateDone, StateFailed, StateCancelled}
}

// signs are small pictures of the states, for those who do not see colours.
var signs = map[string]string{StateWaiting: "◌", StateRunning: "◐", StateDone: "✓", StateFailed: "✕", StateCancelled: "⊘"}

// recordStates are the states of records under each name.
var recordStates = map[string][]job.State{
	StateWaiting:   {job.Accepted, job.Staged, job.Submitted},
	StateRunning:   {job.Running, job.Finished, job.Collected, job.Uploaded},
	StateDone:      {job.Done},
	StateFailed:    {job.Failed},
	StateCancelled: {job.Cancelled, job.Skipped},
}

// stateOf says how a run stands.
func stateOf(rec job.Record) State {
	name := nameOf(rec.State)
	if rec.Ending != nil {
		name = nameOf(rec.Ending.State)
	}
	return State{Name: name, Word: wordOf(rec, name), Sign: signs[name], Over: rec.Ending != nil || !rec.Active()}
}

func nameOf(state job.State) string {
	for _, name := range StateNames() {
		if slices.Contains(recordStates[name], state) {
			return name
		}
	}
	return StateWaiting
}

func wordOf(rec job.Record, name string) string {
	switch {
	case rec.Ending != nil || !rec.Active():
		if rec.State == job.Skipped {
			return "skipped"
		}
		return name
	case rec.CancelledBy != "":
		return "being cancelled"
	}
	switch rec.State {
	case job.Accepted:
		return "being prepared"
	case job.Staged, job.Submitted:
		return "waiting"
	case job.Running:
		if rec.StoppedBy != "" {
			return "stopping"
		}
		if !rec.Requeued.IsZero() {
			return "waiting"
		}
		return "running"
	default:
		return "saving its results"
	}
}

// colourOf is the place of the colour of a run. It is a function of its id alone, so a run has the same colour on every page and on every day.
func colourOf(run string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(run)) // a hash takes everything
	return int(h.Sum32() % chart.RunColours)
}

// colours are the colours of runs in one picture. A run whose colour is taken by one before it gets the next free one.
func colours(runs []string) []int {
	taken := map[int]bool{}
	out := make([]int, len(runs))
	for i, run := range runs {
		c := colourOf(run)
		for n := 0; taken[c] && n < chart.RunColours; n++ {
			c = (c + 1) % chart.RunColours
		}
		taken[c], out[i] = true, c
	}
	return out
}
