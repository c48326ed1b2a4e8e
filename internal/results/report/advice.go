package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// The thresholds of the advice.
const (
	overfitRatio   = 1.25 // the last validation loss over the lowest one
	overfitRise    = 0.1  // of the range of the validation loss
	overfitGap     = 0.15 // of a share on the training rows over that on the test rows
	truncatedMuch  = 0.1
	imbalancedMuch = 5   // the largest class over the smallest
	waitingMuch    = 0.3 // of the time of every worker
)

// learningSentence says in words how the training went.
func learningSentence(c chart.Curves, r *results.Result) string {
	best, last := r.BestEpoch, r.Training.Epochs
	kept := fmt.Sprintf("The model of epoch %s was kept.", text.Decimal(best, 2))
	switch {
	case best <= 0 || last <= 0:
		return ""
	case best >= last && last > 1 && r.Training.Stopped == results.StoppedEarly:
		return fmt.Sprintf("The validation %s could not become better, so training stopped early. %s", r.Named(r.Metric).Words(), kept)
	case best >= last && last > 1:
		return fmt.Sprintf("The best validation %s was in the last of %s epochs: more epochs may improve it. %s",
			r.Named(r.Metric).Words(), text.Decimal(last, 2), kept)
	case best < last:
		return fmt.Sprintf("The best validation %s was in epoch %s of %s; later epochs did not improve it%s. %s",
			r.Named(r.Metric).Words(), text.Decimal(best, 2), text.Decimal(last, 2), stopNote(r), kept)
	case len(c.ValidationLoss) > 0:
		return "The model was trained for " + epochs(last) + "."
	}
	return kept
}

func stopNote(r *results.Result) string {
	switch r.Training.Stopped {
	case results.StoppedEarly:
		return ", so training stopped early"
	case results.StoppedByTime:
		return "; the time limit ended training"
	case results.StoppedDiverged:
		return "; training diverged"
	default:
		return ""
	}
}

// advice is what may make the next run better, most useful first.
func advice(c chart.Curves, r *results.Result) []string {
	if perfect(r) {
		return dataAdvice(r)
	}
	var out []string
	if needsBase(r) {
		out = append(out, "Install a pretrained base model: without one, a model must learn everything from this data.")
	}
	if r.IsEstimator() {
		return append(out, dataAdvice(r)...)
	}
	if r.Training.Stopped == results.StoppedByTime {
		out = append(out, "Raise max_minutes: the time limit ended training.")
	} else if r.BestEpoch > 0 && r.BestEpoch >= r.Training.Epochs {
		out = append(out, "Raise epochs: the last epoch was the best so far.")
	}
	if fit := fitAdvice(c, r); fit != "" {
		out = append(out, fit)
	}
	if share := waiting(r); share > waitingMuch {
		out = append(out, fmt.Sprintf("Raise gradient_accumulation or use fewer workers: they spend %.0f %% of the time waiting for each other.", 100*share))
	}
	return append(out, dataAdvice(r)...)
}

// fitAdvice says what to do about a model that overfits or underfits.
func fitAdvice(c chart.Curves, r *results.Result) string {
	const remedy = "Use fewer epochs, a lower learning_rate, a higher weight_decay, or more data."
	metric, test, where := judged(r)
	m := r.Named(metric)
	train, known := r.Metrics.Train[metric]
	share := where == heldOut && known && !r.Named(metric).LowerIsBetter()
	switch {
	case rises(c.ValidationLoss):
		return "The validation loss rises while the training loss falls: the model starts to overfit. " + remedy
	case share && train.Value-test.Value > overfitGap:
		return fmt.Sprintf("The model overfits (%s %s on the training %ss, %s on the test %ss). %s",
			m.Words(), m.Figure(train.Value), r.Unit(), m.Figure(test.Value), r.Unit(), remedy)
	case share && underfits(r, metric, train):
		return fmt.Sprintf("The model underfits (%s %s on the training %ss). Raise learning_rate or epochs, or choose a larger model.",
			m.Words(), m.Figure(train.Value), r.Unit())
	default:
		return ""
	}
}

// rises reports whether the last value of a line is far above its lowest, also beside what the line fell before.
func rises(line []chart.Point) bool {
	if len(line) < 3 {
		return false
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range line {
		low, high = min(low, p.Y), max(high, p.Y)
	}
	last := line[len(line)-1].Y
	return low > 0 && last > overfitRatio*low && last-low > overfitRise*(high-low)
}

// underfits reports whether a share on the training rows is nearer to the constant answer than to the truth.
func underfits(r *results.Result, metric string, train results.Score) bool {
	b := reference(r)
	if b == nil {
		return false
	}
	constant, ok := b.Test[metric]
	return ok && constant.Value < 1 && (train.Value-constant.Value)/(1-constant.Value) < goodReduction
}

// waiting is the share of its time that every worker waits at least for the others, 0 where that is not known.
func waiting(r *results.Result) float64 {
	share := 1.0
	for _, w := range r.Training.PerWorker {
		if w.WaitingShare == nil {
			return 0
		}
		share = min(share, *w.WaitingShare)
	}
	if len(r.Training.PerWorker) < 2 {
		return 0
	}
	return share
}

// dataAdvice is what may be done about the data.
func dataAdvice(r *results.Result) []string {
	var out []string
	if r.Data.TruncatedShare > truncatedMuch {
		out = append(out, fmt.Sprintf("Raise max_length: %.0f %% of the texts are longer than the %s tokens that the model reads, and are truncated.",
			100*r.Data.TruncatedShare, text.Number(r.Model.MaxLength)))
	}
	smallest, largest, rare := -1, 0, ""
	for _, label := range slices.Sorted(maps.Keys(r.Data.Labels)) {
		n := r.Data.Labels[label]
		if smallest < 0 || n < smallest {
			smallest, rare = n, label
		}
		largest = max(largest, n)
	}
	if smallest > 0 && largest > imbalancedMuch*smallest {
		words := fmt.Sprintf("Add %ss of %q: it has %s training %ss, and the most frequent class has %s.", r.Unit(), text.Excerpt(rare, 60), text.Number(smallest), r.Unit(), text.Number(largest))
		if r.Setting("class_weights") == "none" {
			words += " Or set class_weights to balanced, so that all classes count the same."
		}
		out = append(out, words)
	}
	if r.Data.Rows.Train < r.Data.Enough {
		out = append(out, fmt.Sprintf("Add data: %s are too few for reliable training.", text.Count(r.Data.Rows.Train, r.Unit())))
	}
	return out
}
