package sweep

import (
	"errors"
	"slices"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// row is one finished training.
type row struct {
	point
	Run  string `json:"run"`
	Task string `json:"task"`
	// Model is the delivered one. Network is the trained network, if another model is delivered.
	Model   string `json:"model"`
	Network string `json:"network,omitempty"`
	// Metric is the one by which the best model was chosen, Score its value on the test rows. NetworkScore is the same of the network.
	Metric       string         `json:"metric"`
	Described    results.Metric `json:"metric_info,omitzero"`
	Score        results.Score  `json:"score"`
	NetworkScore *results.Score `json:"network_score,omitempty"`
	// Accuracy is nil where the metric is the accuracy, or where there is none.
	Accuracy *results.Score `json:"accuracy,omitempty"`
	// Seconds is of the whole run, TrainingSeconds of its training with validation and checkpoints.
	Seconds         float64 `json:"seconds"`
	TrainingSeconds float64 `json:"training_seconds"`
	RowsPerSecond   float64 `json:"rows_per_second"`
	// UsedWorkers is smaller than Workers if Ray had no room for more, or if there were fewer rows.
	UsedWorkers int              `json:"used_workers"`
	Threads     int              `json:"threads,omitempty"`
	EpochsDone  float64          `json:"epochs_done"`
	Stopped     string           `json:"stopped"`
	PerWorker   []results.Worker `json:"per_worker,omitempty"`
	Hardware    results.Hardware `json:"hardware"`
}

func newRow(p point, r *results.Result) (row, error) {
	if r.Kind != results.ResultTraining {
		return row{}, job.Permanent(errors.New("a sweep compares trainings, and this run trained nothing"))
	}
	t := r.Training
	out := row{
		point: p, Run: r.Run, Task: r.Task, Model: r.Model.Base, Metric: r.Metric, Described: r.Named(r.Metric), Score: r.Metrics.Test[r.Metric], Seconds: r.Seconds,
		TrainingSeconds: t.Seconds, RowsPerSecond: t.SamplesPerSecond, UsedWorkers: t.Workers, Threads: t.Threads, EpochsDone: t.Epochs,
		Stopped: t.Stopped, PerWorker: t.PerWorker, Hardware: r.Hardware,
	}
	if accuracy, ok := r.Metrics.Test["accuracy"]; ok && r.Metric != "accuracy" {
		out.Accuracy = &accuracy
	}
	delivered := r.Delivered()
	network := slices.IndexFunc(r.Candidates, func(c results.Candidate) bool { return c.Sort == results.SortNetwork && c.Trained() })
	switch {
	case delivered == nil:
	case delivered.Sort == results.SortNetwork:
	case network < 0:
		return out, job.Permanent(errors.New("this training trained no network, so workers and epochs change nothing: " +
			"choose a network with --param model=NAME"))
	default:
		c := r.Candidates[network]
		out.Network, out.Model = c.Title, delivered.Title
		if score, ok := c.Test[r.Metric]; ok {
			out.NetworkScore = &score
		}
		if r.IsEstimator() { // what the training used is then that of the estimator
			out.TrainingSeconds, out.RowsPerSecond, out.UsedWorkers, out.PerWorker = c.Seconds, 0, p.Workers, nil
			out.EpochsDone, out.Stopped = float64(p.Epochs), ""
		}
	}
	return out, nil
}

// metric describes the metric, also in rows that an earlier version stored.
func (r row) metric() results.Metric {
	return results.Stored(r.Metric, r.Described.Title, string(r.Described.Direction), r.Described.Unit)
}

// name is how sentences call the training.
func (p point) name() string {
	return text.Count(p.Workers, "worker") + ", " + text.Count(p.Epochs, "epoch")
}

// onOneNode reports whether all workers ran on one machine.
func (r row) onOneNode() bool {
	return !slices.ContainsFunc(r.PerWorker, func(w results.Worker) bool { return w.Node != r.PerWorker[0].Node })
}

func (t *table) any(holds func(row) bool) bool { return slices.ContainsFunc(t.Rows, holds) }

// peak is the largest peak memory of a worker in bytes, 0 where it is not known.
func (r row) peak() int64 {
	var most int64
	for _, w := range r.PerWorker {
		most = max(most, w.PeakMemoryBytes)
	}
	return most
}

// cores is how many cores a worker kept busy, as a mean over all workers.
func (r row) cores() float64 {
	var cpu, seconds float64
	for _, w := range r.PerWorker {
		cpu, seconds = cpu+w.CPUSeconds, seconds+w.Seconds
	}
	if seconds <= 0 {
		return 0
	}
	return cpu / seconds
}

// waiting is the mean share of the step time that workers wait for each other.
func (r row) waiting() float64 {
	var sum float64
	for _, w := range r.PerWorker {
		if w.WaitingShare != nil {
			sum += *w.WaitingShare / float64(len(r.PerWorker))
		}
	}
	return sum
}

// base is the training with the fewest workers and as many epochs.
func (t *table) base(of row) row {
	for _, one := range t.Rows { // workers ascend
		if one.Epochs == of.Epochs {
			return one
		}
	}
	return of
}

// speedUp is how many times as fast the training was as that of base, and efficiency its share of what as many workers could reach.
func (t *table) speedUp(of row) (speedUp, efficiency float64) {
	base := t.base(of)
	if of.TrainingSeconds <= 0 || base.TrainingSeconds <= 0 || of.UsedWorkers < 1 {
		return 0, 0
	}
	speedUp = base.TrainingSeconds / of.TrainingSeconds
	return speedUp, speedUp * float64(max(1, base.UsedWorkers)) / float64(of.UsedWorkers)
}
