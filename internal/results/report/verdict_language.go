package report

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
)

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
