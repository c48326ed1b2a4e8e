package results

import (
	"fmt"
)

// The thresholds of the advice.
const (
	overfitRatio   = 1.25 // the last validation loss over the lowest one
	truncatedMuch  = 0.1
	imbalancedMuch = 5   // the largest class over the smallest
	waitingMuch    = 0.3 // of the time of every worker
	fewRows        = 500
)

// learningSentence says in words how the training went.
func learningSentence(c curves, r *Result) string {
	best, last := r.BestEpoch, r.Training.Epochs
	kept := fmt.Sprintf("The model of epoch %s was kept.", trim(best))
	switch {
	case best <= 0 || last <= 0:
		return ""
	case best >= last && last > 1:
		return fmt.Sprintf("The validation %s was best in the last of %s epochs: it may still get better with more. %s",
			metricName(r.Metric), trim(last), kept)
	case best < last:
		return fmt.Sprintf("The validation %s was best in epoch %s of %s and did not get better after that%s. %s",
			metricName(r.Metric), trim(best), trim(last), stopNote(r), kept)
	case len(c.ValidationLoss) > 0:
		return "One epoch was trained."
	}
	return kept
}

func stopNote(r *Result) string {
	switch r.Training.Stopped {
	case stoppedEarly:
		return ", so the training stopped by itself"
	case stoppedByTime:
		return "; the training was ended by its time limit"
	case stoppedAstray:
		return ", for the training diverged"
	default:
		return ""
	}
}

// advice is what may make the next run better, most useful first.
func advice(c curves, r *Result) []string {
	var out []string
	if r.Model.FromScratch && r.Model.Kind != modelTable {
		out = append(out, "Install a pretrained base model and choose it in the form: "+
			"a model from random weights knows nothing before it sees this data.")
	}
	if r.Training.Stopped == stoppedByTime {
		out = append(out, "Raise max_minutes: the time limit ended the training.")
	} else if r.BestEpoch > 0 && r.BestEpoch >= r.Training.Epochs {
		out = append(out, "Raise epochs: the last one was the best so far.")
	}
	if v := c.ValidationLoss; len(v) > 2 {
		low, _ := span(v)
		if last := v[len(v)-1].Y; low > 0 && last > overfitRatio*low {
			out = append(out, "The validation loss rises while the training loss falls: the model begins to learn its rows by heart. "+
				"Use fewer epochs, a lower learning_rate, or more data.")
		}
	}
	if share := r.waiting(); share > waitingMuch {
		out = append(out, fmt.Sprintf("Raise gradient_accumulation or use fewer workers: they wait for each other %.0f %% of the time.", 100*share))
	}
	return append(out, dataAdvice(r)...)
}

// waiting is the share of its time that every worker waits at least for the others, 0 where that is not known.
func (r *Result) waiting() float64 {
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
func dataAdvice(r *Result) []string {
	var out []string
	if r.Data.TruncatedShare > truncatedMuch {
		out = append(out, fmt.Sprintf("Raise max_length: %.0f %% of the texts are longer than the %d tokens that the model reads.",
			100*r.Data.TruncatedShare, r.Model.MaxLength))
	}
	smallest, largest, rare := -1, 0, ""
	for label, n := range sorted(r.Data.Labels) {
		if smallest < 0 || n < smallest {
			smallest, rare = n, label
		}
		largest = max(largest, n)
	}
	if smallest > 0 && largest > imbalancedMuch*smallest {
		out = append(out, fmt.Sprintf("Add rows of %q: it has %s, the most frequent class %s.",
			shorten(oneLine(rare), 60), thousands(smallest), thousands(largest)))
	}
	if r.Data.Rows.Train < fewRows {
		out = append(out, fmt.Sprintf("Add data: %s rows are few to learn from.", thousands(r.Data.Rows.Train)))
	}
	return out
}
