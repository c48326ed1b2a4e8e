package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestALanguageModelIsJudgedByItsBaseAndByTheTableOfNGrams(t *testing.T) {
	t.Parallel()
	bits := func(v float64) results.Scores { return results.Scores{"bits_per_byte": {Value: v, N: 20}} }
	for name, c := range map[string]struct {
		baselines []results.Baseline
		grade     Grade
		word      string
	}{
		"far better than before": {[]results.Baseline{{Name: results.BaselineBase, Test: bits(2.9)}}, GradeGood, "Clearly better than before the training"},
		"within the interval":    {[]results.Baseline{{Name: results.BaselineBase, Test: bits(2.6)}}, GradeWeak, "A little better than before the training"},
		"worse than before":      {[]results.Baseline{{Name: results.BaselineBase, Test: bits(2.5)}}, GradeBad, "No better than before the training"},
		"behind the table": {
			[]results.Baseline{{Name: results.BaselineNGram, Test: bits(2.41)}},
			GradeBad,
			"The n-gram table predicts the text better (2.410 against 2.580 bits per byte)",
		},
		"from random weights": {nil, GradeWeak, "Trained from random weights: it imitates the text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, "result-language.json"))
			require.NoError(t, err)
			low, high := 2.5, 2.65
			score := results.Score{Value: 2.58, Low: &low, High: &high, N: 20}
			r.Metrics.Test = results.Scores{"bits_per_byte": score}
			r.Metrics.Baselines = c.baselines
			grade, word := languageGrade(r, "bits_per_byte", score)
			require.Equal(t, c.grade, grade)
			require.Equal(t, c.word, word)
		})
	}
}
