package results

import (
	"errors"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/text"
)

// checkScores refuses scores that contradict each other, and a training that scored nothing: without a figure it is no success.
func (r *Result) checkScores() error {
	if r.Kind == ResultPrediction {
		return errors.Join(r.Prediction.Scores.check("predicted"), r.Prediction.TrainedScores.check("model's test"))
	}
	if r.Kind != ResultTraining {
		return nil
	}
	if r.Metrics.BestEpoch != r.BestEpoch || r.Metrics.Metric != r.Metric || r.Metrics.Task != r.Task {
		return errors.New("metrics are of another epoch, task or metric")
	}
	if _, ok := r.Metrics.Validation[r.Metric]; !ok {
		return fmt.Errorf("the validation rows have no %s", text.Excerpt(r.Metric, 60))
	}
	for name, split := range r.Splits() {
		if err := split.check(name); err != nil {
			return err
		}
	}
	for _, b := range r.Metrics.Baselines {
		if err := b.Test.check("baseline's"); err != nil {
			return err
		}
	}
	if err := errors.Join(r.checkCandidates(), r.Search.check()); err != nil {
		return err
	}
	if r.Champion != nil {
		return r.Champion.Test.check("champion's")
	}
	return nil
}

// check refuses an interval of the named rows that is upside down.
func (s Scores) check(rows string) error {
	for metric, score := range s {
		if low, high := score.Bounds(); low > high {
			return fmt.Errorf("the interval of the %s of the %s rows is impossible", text.Excerpt(metric, 60), rows)
		}
	}
	return nil
}

func (r *Result) checkConfusion() error {
	if len(r.Confusion) == 0 {
		return nil
	}
	wrong := errors.New("the confusion matrix does not fit the labels")
	if len(r.Confusion) != len(r.Model.Labels) {
		return wrong
	}
	for _, row := range r.Confusion {
		if len(row) != len(r.Model.Labels) {
			return wrong
		}
	}
	return nil
}
