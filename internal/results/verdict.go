package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Grade is the verdict as a traffic light.
type Grade string

// The grades, best first.
const (
	GradeGood Grade = "good"
	GradeWeak Grade = "weak"
	GradeBad  Grade = "bad"
)

// Verdict answers whether the model is any good.
type Verdict struct {
	Grade Grade
	// Word is the grade in words and Sentence the figures behind it.
	Word     string
	Sentence string
	// Baseline is the share of test rows that the answer "always the most frequent training label" gets right, -1 where
	// that is not known; Majority is that label.
	Baseline float64
	Majority string
}

const (
	// goodReduction is the share of the baseline's errors that a good model avoids.
	goodReduction = 0.5
	// wideInterval is the width of an interval that is too wide to call a model good.
	wideInterval = 0.15
)

// NewVerdict judges a result by its score on the rows that were held out, against always giving the most frequent answer.
func NewVerdict(r *Result) Verdict {
	v := Verdict{Baseline: -1}
	v.Majority, v.Baseline = baseline(r)
	metric, score, where := r.headline()
	low, high := score.bounds()

	text := fmt.Sprintf("%s %s", title(metric), figure(score.Value))
	if low < high {
		text += fmt.Sprintf(" (95 %% interval %s to %s)", figure(low), figure(high))
	}
	text += fmt.Sprintf(" on %s %s rows", thousands(score.N), where)
	if metric != "accuracy" || v.Baseline < 0 {
		v.Grade, v.Word, v.Sentence = GradeWeak, "Trained", text
		return v
	}
	v.Sentence = fmt.Sprintf("%s; always answering %q would get %s", text, shorten(oneLine(v.Majority), 40), figure(v.Baseline))
	switch {
	case low <= v.Baseline:
		v.Grade, v.Word = GradeBad, "No better than guessing"
	case score.Value-v.Baseline < goodReduction*(1-v.Baseline):
		v.Grade, v.Word = GradeWeak, "Better than guessing, but weak"
	case high-low > wideInterval:
		v.Grade, v.Word = GradeWeak, "Promising, but tested on few rows"
	default:
		v.Grade, v.Word = GradeGood, "Clearly better than guessing"
	}
	return v
}

// headline is the score that a person asks for first: accuracy on the test rows, else the metric of the choice, else the
// same on the validation rows, which is said.
func (r *Result) headline() (metric string, score Score, where string) {
	for _, metric := range []string{"accuracy", r.Metric} {
		if s, ok := r.Metrics.Test[metric]; ok && s.N > 0 {
			return metric, s, "held-out"
		}
	}
	return r.Metric, r.Metrics.Validation[r.Metric], "validation"
}

// baseline is the most frequent training label and its share among the test rows; without a confusion matrix its share among
// the training rows, and -1 where neither is known.
func baseline(r *Result) (label string, share float64) {
	best, all := -1, 0
	for _, l := range r.Model.Labels { // in the model's order, so that a tie always falls the same way
		n := r.Data.Labels[l]
		all += n
		if n > best {
			label, best = l, n
		}
	}
	if all == 0 {
		return "", -1
	}
	total, hit := 0, 0
	for i, row := range r.Confusion {
		for _, n := range row {
			total += n
			if r.Model.Labels[i] == label {
				hit += n
			}
		}
	}
	if total > 0 {
		return label, float64(hit) / float64(total)
	}
	return label, float64(best) / float64(all)
}

// title makes the name of a metric readable.
func title(metric string) string {
	switch metric {
	case "f1", "f1_macro":
		return "F1"
	}
	s := []rune(shorten(oneLine(strings.ReplaceAll(metric, "_", " ")), 40))
	if len(s) > 0 {
		s[0] = unicode.ToUpper(s[0])
	}
	return string(s)
}

// figure writes a score with three digits, as far as they say something.
func figure(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// thousands writes a count with commas: 12,345.
func thousands[T ~int | ~int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
