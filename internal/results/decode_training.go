package results

import (
	"errors"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/text"
)

// checkScores also refuses a result that scored nothing: a training without a figure is no success.
func (r *Result) checkScores() error {
	switch {
	case r.Metric == "":
		return errors.New("the metric is missing")
	case r.BestEpoch < 0, r.BestStep < 0, r.Metrics.BestEpoch != r.BestEpoch:
		return errors.New("best_epoch is wrong")
	case r.Metrics.Metric != r.Metric, r.Metrics.Task != r.Task:
		return errors.New("metrics are of another task or metric")
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
	return atMost("baselines", len(r.Metrics.Baselines), maxShown)
}

// check refuses scores of the named rows that cannot be.
func (s Scores) check(rows string) error {
	for metric, score := range s {
		low, high := score.Bounds()
		if score.N < 0 || low > high || notFinite(score.Value, low, high) != nil {
			return fmt.Errorf("the %s of the %s rows is impossible", text.Excerpt(metric, 60), rows)
		}
	}
	return atMost("metrics", len(s), maxList)
}

func (r *Result) checkModel() error {
	m := r.Model
	switch {
	case m.Kind != ModelText && m.Kind != ModelImage && m.Kind != ModelTable:
		return fmt.Errorf("a model of kind %q is not known", text.Excerpt(m.Kind, 40))
	case m.Base == "", len(m.Base) > maxName, len(m.License) > maxName, m.Parameters < 1, min(m.MaxLength, m.ImageSize) < 0:
		return errors.New("the model is not described")
	case m.WeightsSHA256 != "" && !IsSHA256(m.WeightsSHA256):
		return errors.New("the sha256 of the weights is none")
	}
	return errors.Join(atMost("labels", len(m.Labels), maxLabels), atMost("columns", len(m.Columns), maxLabels))
}

func (d Data) check() error {
	rows := d.Rows
	if min(rows.Train, rows.Validation, rows.Test) < 0 || rows.Train == 0 || max(rows.Train, rows.Validation, rows.Test) > maxCount {
		return errors.New("the numbers of rows are impossible")
	}
	for _, n := range d.Labels {
		if n < 0 || n > maxCount {
			return errors.New("the rows of a label are impossible")
		}
	}
	for _, left := range d.Dropped {
		if left.Rows < 0 || left.Rows > maxCount {
			return errors.New("the rows that were left out are impossible")
		}
	}
	if t := d.Target; t != nil {
		if err := notFinite(t.Min, t.Max, t.Mean, t.Median); err != nil {
			return fmt.Errorf("the target: %w", err)
		}
	}
	if d.TruncatedShare < 0 || d.TruncatedShare > 1 {
		return errors.New("the share of cut texts is impossible")
	}
	return errors.Join(
		atMost("labels", len(d.Labels), maxLabels), atMost("files", len(d.Files), maxFiles),
		atMost("columns", len(d.InputColumns), maxLabels), atMost("reasons", len(d.Dropped), maxList),
		d.Lengths.check("lengths"), checkExamples("samples", d.Samples))
}

func (t Training) check() error {
	if t.Device == "" || len(t.Device) > maxName || t.Workers < 1 {
		return errors.New("the training is not described")
	}
	err := errors.Join(atMost("workers", len(t.PerWorker), maxWorkers), notNegative("the training", t.Seconds, t.SamplesPerSecond,
		t.Epochs, t.LearningRate, float64(t.PeakMemoryBytes), float64(t.Steps), float64(t.BatchSize), float64(t.Accumulation),
		float64(t.Resumed), float64(t.GradientBytes), float64(t.Threads)))
	for _, w := range t.PerWorker {
		err = errors.Join(err, notNegative("a worker", w.SamplesPerSecond, w.CPUSeconds, w.Seconds, float64(w.Rank),
			float64(w.PeakMemoryBytes), float64(w.GPUPeakMemoryBytes)))
		if w.WaitingShare != nil {
			err = errors.Join(err, checkShares("a worker", *w.WaitingShare))
		}
	}
	return err
}

// checkTestRows checks what is shown of the test rows.
func (r *Result) checkTestRows() error {
	return errors.Join(r.checkConfusion(), r.Calibration.check(), r.Binary.check(), r.Regression.check(),
		checkExamples("mistakes", r.Mistakes), checkExamples("unsure", r.Unsure))
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
		for _, n := range row {
			if n < 0 || n > maxCount {
				return wrong
			}
		}
	}
	return nil
}

func (c *Champion) check() error {
	if c == nil {
		return nil
	}
	if c.Run == "" || c.Name == "" || len(c.Name) > maxName || c.Version < 1 {
		return errors.New("the champion is not described")
	}
	return c.Test.check("champion's")
}
