package chart

import (
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
)

// maxPoints is how many points of one line are drawn; more cannot be told apart.
const maxPoints = 300

// maxResumes is how many restarts are marked.
const maxResumes = 50

// Curves is how a training went, as far as its events tell. X of each point is a time in epochs.
type Curves struct {
	// Steps is the training loss as it came, TrainLoss its mean over each epoch, both in nats.
	Steps          []Point
	TrainLoss      []Point
	ValidationLoss []Point
	// Metric is the validation value of the metric by which the best model was chosen.
	Metric     []Point
	MetricName string
	// Described are the metrics of the result.
	Described results.MetricList
	// Rate is the learning rate as it came.
	Rate []Point
	// Best is where the model was taken from, 0 where none is marked, and Resumes are where the training went on from a
	// checkpoint.
	Best    float64
	Resumes []float64
	// Epochs is how many were run.
	Epochs float64
}

// fewPerEpoch is how many values of the loss an epoch needs to be drawn step by step.
const fewPerEpoch = 5

// NewCurves reads the lines out of the events. Where a later attempt or a restart of the workers went back in time, its
// points replace the ones from there on.
func NewCurves(events []results.Event, r *results.Result) Curves {
	c := Curves{MetricName: r.Metric, Described: r.Described, Best: r.BestEpoch, Epochs: r.Training.Epochs}
	epochs, steps := 0, 0
	for _, e := range events {
		if e.Attempt > r.Attempt {
			continue
		}
		switch {
		case e.Kind == results.KindProgress:
			epochs, steps = e.Epochs, e.Steps
			if e.Loss != nil && epochs > 0 {
				c.Steps = extend(c.Steps, Point{e.Fraction * float64(epochs), *e.Loss})
			}
			if e.LearningRate != nil && epochs > 0 {
				c.Rate = extend(c.Rate, Point{e.Fraction * float64(epochs), *e.LearningRate})
			}
		case e.Kind == results.KindResume && len(c.Resumes) < maxResumes:
			c.Resumes = append(c.Resumes, e.Epoch)
		case e.Kind == results.KindEval && (e.Split == results.SplitTrain || e.Split == results.SplitValidation):
			c.evaluate(e, e.Evaluated(epochs, steps))
		}
	}
	for _, line := range [][]Point{c.Steps, c.TrainLoss, c.ValidationLoss, c.Metric} {
		if len(line) > 0 {
			c.Epochs = max(c.Epochs, line[len(line)-1].X)
		}
	}
	// A short training tells its loss a few times only, and a line through those shows less than the one through its epochs.
	if len(c.TrainLoss) > 1 && float64(len(c.Steps)) < fewPerEpoch*c.Epochs {
		c.Steps = nil
	}
	c.Steps, c.Rate = thin(c.Steps), thin(c.Rate)
	return c
}

func (c *Curves) evaluate(e results.Event, x float64) {
	loss, hasLoss := e.Metrics["loss"]
	if e.Split == results.SplitTrain {
		if hasLoss {
			c.TrainLoss = extend(c.TrainLoss, Point{x, loss})
		}
		return
	}
	if hasLoss {
		c.ValidationLoss = extend(c.ValidationLoss, Point{x, loss})
	}
	if v, ok := e.Metrics[c.MetricName]; ok {
		c.Metric = extend(c.Metric, Point{x, v})
	}
}

// extend appends p and drops what does not lie before it.
func extend(line []Point, p Point) []Point {
	i := len(line)
	for i > 0 && line[i-1].X >= p.X {
		i--
	}
	return append(line[:i], p)
}

// thin averages neighbours until at most maxPoints are left.
func thin(line []Point) []Point {
	if len(line) <= maxPoints {
		return line
	}
	out := make([]Point, 0, maxPoints)
	for group := range slices.Chunk(line, (len(line)+maxPoints-1)/maxPoints) {
		var sum Point
		for _, p := range group {
			sum.X += p.X
			sum.Y += p.Y
		}
		n := float64(len(group))
		out = append(out, Point{sum.X / n, sum.Y / n})
	}
	return out
}

// Empty reports whether there is no loss to draw.
func (c Curves) Empty() bool { return len(c.Steps)+len(c.TrainLoss)+len(c.ValidationLoss) == 0 }
