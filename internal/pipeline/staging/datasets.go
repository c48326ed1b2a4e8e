package staging

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// Turns are the jobs of many datasets that let others go first and go on later. The zero value has none. It is safe for concurrent use.
type Turns struct{ waiting sync.Map }

// begin reports whether the job goes on, and forgets that.
func (t *Turns) begin(run string) bool {
	_, waited := t.waiting.LoadAndDelete(run)
	return waited
}

func (t *Turns) end(run string, err error) {
	if kind, _ := job.Classify(err); err != nil && kind == job.KindLater {
		t.waiting.Store(run, true)
	}
}

// silent says nothing: what a job says in its first turn it does not say again in the others.
type silent struct{}

func (silent) Remark(job.Record, string) {}

func (silent) SayPassing(job.Record, string) {}

// addDatasets stages the other datasets that a training reads, adds the labels that the options ask for, and returns all inputs and all files that
// it does without. said takes the sentences of every turn.
func (s *Stager) addDatasets(ctx context.Context, rec job.Record, own []job.Input, left []job.NotRead, said Statuses) ([]job.Input, []job.NotRead, error) {
	tellLeft(s.Statuses, rec, left)
	inputs := own
	if rec.Kind == job.Train && rec.Settings.Datasets != "" {
		room := platform.Room{
			Inputs: s.Volume.Inputs(rec.Run), Notes: s.Volume.Deliverables(rec.Run), Wanted: func() bool { return s.OthersWait(rec.Owner) },
		}
		all, others, err := s.Platform.StageMany(ctx, rec, own, room, func(text string) { said.SayPassing(rec, text) })
		s.Turns.end(rec.Run, err)
		if err != nil {
			return nil, nil, err
		}
		if len(others) > 0 {
			said.Remark(rec, "Left out of the other datasets: "+listLeft(others))
		}
		inputs, left = all, slices.Concat(left, others)
	}
	if len(inputs) == 0 {
		return nil, nil, job.Permanent(errors.New(emptyDataset(rec.Kind, left)))
	}
	if rec.Kind != job.Train {
		return inputs, left, nil
	}
	return inputs, left, s.Platform.Label(ctx, rec, inputs, func(text string) { said.Remark(rec, text) }) // a passing line is lost in a short job
}
