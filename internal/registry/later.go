package registry

import (
	"math"
	"strconv"
)

// Later is how good the answers of a prediction were, by labels that came after it.
type Later struct {
	// Metric is the name of what Score.Value is: the metric of the model where answers and labels are enough for it, else accuracy or rmse. Score.N is how
	// many rows have got a label.
	Metric string `json:"metric"`
	Score  Score  `json:"score"`
	// Of is how many rows had an id and no label at the prediction, Repeated how many ids stood in several of these rows and cannot be matched, and Proposed
	// how many of the rows with a label were proposed for labelling, because the model was unsure of them.
	Of       int `json:"of"`
	Repeated int `json:"repeated,omitempty"`
	Proposed int `json:"proposed,omitempty"`
}

// z95 is how many standard errors a 95 % interval has on each side.
const z95 = 1.959964

// score compares the answers with the labels that came later; nil without any.
func (a Answers) score(metric string) *Later {
	later := &Later{Of: a.Unlabelled, Repeated: a.Repeated}
	var predicted, labels []string
	for _, answer := range a.Rows {
		if answer.Label == nil {
			continue
		}
		predicted, labels = append(predicted, answer.Predicted), append(labels, *answer.Label)
		if answer.Proposed {
			later.Proposed++
		}
	}
	if a.Numbers {
		later.ofNumbers(predicted, labels, metric)
	} else {
		later.ofClasses(predicted, labels, metric)
	}
	if later.Score.N == 0 || math.IsNaN(later.Score.Value) || math.IsInf(later.Score.Value, 0) {
		return nil
	}
	return later
}

// ofClasses measures classes as the trainer does (trainer/measure/classification.py).
func (l *Later) ofClasses(predicted, labels []string, metric string) {
	hits, is, said := map[string]float64{}, map[string]float64{}, map[string]float64{}
	right := 0.0
	for i, label := range labels {
		is[label]++
		said[predicted[i]]++
		if predicted[i] == label {
			hits[label]++
			right++
		}
	}
	n := float64(len(labels))
	l.Metric, l.Score.N = metric, len(labels)
	switch metric {
	case "f1_macro", "f1_weighted":
		sum, weighted, classes := 0.0, 0.0, float64(len(is))
		for class := range said {
			if is[class] == 0 {
				classes++
			}
		}
		for class, rows := range is {
			f1 := 2 * hits[class] / (rows + said[class])
			sum, weighted = sum+f1, weighted+f1*rows
		}
		l.Score.Value = sum / classes
		if metric == "f1_weighted" {
			l.Score.Value = weighted / n
		}
	case "mcc":
		both, ofIs, ofSaid := 0.0, 0.0, 0.0
		for class, rows := range is {
			both, ofIs = both+rows*said[class], ofIs+rows*rows
		}
		for _, rows := range said {
			ofSaid += rows * rows
		}
		if spread := (n*n - ofIs) * (n*n - ofSaid); spread > 0 {
			l.Score.Value = (right*n - both) / math.Sqrt(spread)
		}
	default:
		l.Metric, l.Score.Value = "accuracy", right/n
		low, high := wilson(right/n, n)
		l.Score.Low, l.Score.High = &low, &high
	}
}

// ofNumbers measures numbers as the trainer does (trainer/measure/regression.py). Labels that are no numbers are left out.
func (l *Later) ofNumbers(predicted, labels []string, metric string) {
	var squared, absolute, sum, sum2, n float64
	first := math.NaN()
	for i := range labels {
		is, err := strconv.ParseFloat(labels[i], 64)
		said, err2 := strconv.ParseFloat(predicted[i], 64)
		if err != nil || err2 != nil || math.IsNaN(is-said) || math.IsInf(is-said, 0) {
			continue
		}
		if n == 0 {
			first = is // sums of differences keep the digits of large numbers
		}
		n++
		squared, absolute = squared+(said-is)*(said-is), absolute+math.Abs(said-is)
		sum, sum2 = sum+is-first, sum2+(is-first)*(is-first)
	}
	l.Metric, l.Score.N = metric, int(n)
	switch metric {
	case "mae":
		l.Score.Value = absolute / n
	case "r2":
		if variance := sum2/n - (sum/n)*(sum/n); variance > 0 {
			l.Score.Value = 1 - squared/n/variance
		}
	default:
		l.Metric, l.Score.Value = "rmse", math.Sqrt(squared/n)
	}
}

// wilson is the 95 % interval of a share of n rows.
func wilson(share, n float64) (low, high float64) {
	middle, half := share+z95*z95/(2*n), z95*math.Sqrt(share*(1-share)/n+z95*z95/(4*n*n))
	return max(0, (middle-half)/(1+z95*z95/n)), min(1, (middle+half)/(1+z95*z95/n))
}
