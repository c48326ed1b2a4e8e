package report

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/graphs"
	"github.com/ncsa/clowder-ray/internal/text"
)

// linkVerdict judges a model of links by its AUC, and beside the best of the simple rules by the metric that chose it.
func linkVerdict(r *results.Result) Verdict {
	metric, score, where := headline(r)
	v := Verdict{Figures: scoreWords(metric, score, where, r.Unit()) + linkScores(r), Champion: championSentence(r)}
	v.Grade, v.Word = linkGrade(r, where)
	if r.IsEstimator() && where == heldOut {
		v.Figures += "; a simple rule is delivered" + networkScore(r, metric)
	} else if b := simple(r); b != nil && where == heldOut {
		rule, against := b.Test[metric], ""
		if withinInterval(score, rule.Value) {
			against = chance
		}
		v.Figures += fmt.Sprintf("; %s has %s %s%s", called(r, b), results.MetricName(metric), results.Figure(metric, rule.Value), against)
		if !results.IsBetter(metric, score.Value, rule.Value) && v.Grade != GradeBad {
			v.Grade, v.Word = GradeWeak, "A simple model does as well"
			v.Help = "What may help: features of the nodes, more edges, or more epochs."
		}
	}
	if leak := leak(r); leak != "" {
		v.Help = strings.TrimSpace("Before you rely on it: " + leak + " " + v.Help)
		if v.Grade != GradeBad {
			v.Grade, v.Word = GradeWeak, tooGood
		}
	}
	v.Sentence = text.Capital(v.Figures)
	if v.Grade != GradeGood {
		v.Sentence = v.Word + ": " + v.Figures
	}
	v.Figures = text.Capital(v.Figures)
	return v
}

// networkScore is what the network has that was trained, but is not delivered.
func networkScore(r *results.Result, metric string) string {
	for _, c := range r.Candidates {
		if s, ok := c.Test[metric]; ok && c.Sort == results.SortNetwork {
			return fmt.Sprintf(" (%s); the network has %s %s", text.Shorten(results.Plain(r.Delivered().Title, r.Delivered().Name), 110), results.MetricName(metric), results.Figure(metric, s.Value))
		}
	}
	return ""
}

// linkScores says what the mean reciprocal rank means, and adds the AUC.
func linkScores(r *results.Result) string {
	var words string
	if hits, ok := r.Metrics.Test["hits_at_10"]; ok && r.Graph != nil && r.Graph.Candidates > 0 {
		words = fmt.Sprintf(" (%.0f %% of them are among the first 10 of %s)", 100*hits.Value, text.Number(r.Graph.Candidates+1))
	}
	if auc, ok := r.Metrics.Test["auc"]; ok && r.Metric != "auc" {
		words += ", AUC " + results.Figure("auc", auc.Value)
	}
	return words
}

// linkGrade compares the score with a random order.
func linkGrade(r *results.Result, where string) (Grade, string) {
	auc, ok := r.Metrics.Test["auc"]
	if where != heldOut || !ok {
		return GradeWeak, "Trained, but not tested"
	}
	low, _ := auc.Bounds()
	noBetter := low <= 0.5
	score, wide := r.Metrics.Test[r.Metric], false
	if low, high := score.Bounds(); r.Graph != nil && r.Metric == "mrr" {
		noBetter = noBetter && low <= graphs.RandomMRR(r.Graph.Candidates)
		wide = high-low > wideInterval
	}
	return shareGrade(noBetter, 2*(auc.Value-0.5), wide, r.Unit())
}

// languageGrade judges a language model by the base model and the table of n-grams on the same held-out rows.
func languageGrade(r *results.Result, metric string, score results.Score) (Grade, string) {
	if b := r.Baseline(results.BaselineNGram); b != nil {
		if s, ok := b.Test["bits_per_byte"]; ok && s.Value < r.Metrics.Test["bits_per_byte"].Value {
			return GradeBad, fmt.Sprintf("The n-gram table predicts the text better (%s against %s bits per byte)",
				results.Figure("bits_per_byte", s.Value), results.Figure("bits_per_byte", r.Metrics.Test["bits_per_byte"].Value))
		}
	}
	b := r.Baseline(results.BaselineBase)
	if b == nil {
		return GradeWeak, "Trained from random weights: it imitates the text"
	}
	before, ok := b.Test[metric]
	if !ok {
		return GradeWeak, "Trained"
	}
	low, high := score.Bounds()
	switch {
	case !results.IsBetter(metric, score.Value, before.Value):
		return GradeBad, "No better than before the training"
	case before.Value >= low && before.Value <= high:
		return GradeWeak, "A little better than before the training"
	default:
		return GradeGood, "Clearly better than before the training"
	}
}

// languageBaselines says what the base model and the simple ones score on the same rows.
func languageBaselines(r *results.Result, metric string) string {
	var words strings.Builder
	for _, b := range r.Metrics.Baselines {
		if s, ok := b.Test[metric]; ok {
			fmt.Fprintf(&words, "; %s: %s", results.Plain(b.Title, b.Name), results.Figure(metric, s.Value))
		}
	}
	return words.String()
}
