package staging

import (
	"context"
	"errors"
	"slices"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// Places are where jobs download, a few at a time.
type Places interface {
	// Yield says that the job gives its place up for a job of another owner, at once, and ends the part that it has begun without one.
	Yield(run string)
	// Wanted reports whether it should end its turn then.
	Wanted(run string) bool
}

// addDatasets stages the other datasets that a training reads, adds the labels that the options ask for, and returns all inputs and all files that
// it does without. Other jobs may go first, and the job goes on in its next turn.
func (s *Stager) addDatasets(ctx context.Context, t turn) ([]job.Input, []job.NotRead, error) {
	rec, inputs, left := t.rec, t.own, t.left
	if rec.Kind == job.Train && rec.Settings.Datasets != "" {
		s.Places.Yield(rec.Run)
		room := platform.Room{
			Inputs: s.Volume.Inputs(rec.Run), Notes: s.Volume.Deliverables(rec.Run), Wanted: func() bool { return s.Places.Wanted(rec.Run) }, Kept: &t.kept,
		}
		all, others, err := s.Platform.StageMany(ctx, rec, t.own, room, s.say(rec))
		if kind, _ := job.Classify(err); err != nil && kind == job.KindLater {
			return nil, nil, errors.Join(err, s.Turns.keep(t))
		} else if err != nil {
			return nil, nil, err
		}
		if len(others) > 0 {
			s.Statuses.Remark(rec, "Left out of the other datasets: "+listLeft(others))
		}
		inputs, left = all, slices.Concat(left, others)
	}
	if len(inputs) == 0 {
		return nil, nil, job.Permanent(errors.New(emptyDataset(rec.Kind, left)))
	}
	if rec.Kind == job.Predict {
		return inputs, left, s.markLabelled(ctx, rec, inputs)
	}
	if rec.Kind != job.Train {
		return inputs, left, nil
	}
	return inputs, left, s.Platform.Label(ctx, rec, inputs, s.say(rec).Note) // a passing line is lost in a short job
}

// markLabelled gives the files of a prediction the labels that they have in the place from which the model was trained. The prediction compares
// nothing with them: it names files that lack a label.
func (s *Stager) markLabelled(ctx context.Context, rec job.Record, inputs []job.Input) error {
	v, err := model.Of(rec)
	if err != nil || v == nil || v.LabelFrom == "" {
		return err
	}
	rec.Settings.LabelFrom = v.LabelFrom
	err = s.Platform.Label(ctx, rec, inputs, func(string) {})
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return nil // none of the files has a label, or this platform has no such place
	}
	return err
}
