package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// TestAVerdictByAMetricOfAnyRange: only shares and errors have a best value, so the others are graded by their intervals alone.
func TestAVerdictByAMetricOfAnyRange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		direction        results.Direction
		unit             string
		value, low, high float64
		simple           float64
		grade            Grade
		word             string
		perfect          bool
	}{
		"a share":                          {results.Higher, "", 0.9, 0.88, 0.92, 0.5, GradeGood, "Clearly better than guessing", false},
		"a share that is perfect":          {results.Higher, "", 1, 0.99, 1, 0.5, GradeGood, "Clearly better than guessing", true},
		"an error":                         {results.Lower, "degrees", 10, 9, 11, 60, GradeGood, "Clearly better than the flat line", false},
		"an error that is hardly smaller":  {results.Lower, "degrees", 58, 57, 59, 60, GradeWeak, "Better than the flat line, but inaccurate", false},
		"decibels":                         {results.Higher, "dB", 35, 34, 36, 20, GradeGood, "Better than the flat line", false},
		"decibels within chance":           {results.Higher, "dB", 21, 19, 23, 20, GradeBad, "No better than the flat line", false},
		"a lift":                           {results.Higher, "", 3, 2.9, 3.1, 1, GradeGood, "Better than the flat line", false},
		"a negative log likelihood":        {results.Lower, "", -3, -3.1, -2.9, -1, GradeGood, "Better than the flat line", false},
		"a negative one against nothing":   {results.Lower, "", -0.5, -0.6, -0.4, 0, GradeGood, "Better than the flat line", false},
		"a negative one that is no better": {results.Lower, "", -0.5, -0.6, -0.4, -0.5, GradeBad, "No better than the flat line", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{
				Kind: results.ResultTraining, Metric: "own",
				Described: results.MetricList{{Name: "own", Title: "own", Direction: tc.direction, Unit: tc.unit}},
				Metrics: results.Metrics{
					Test:      results.Scores{"own": {Value: tc.value, Low: &tc.low, High: &tc.high, N: 500}},
					Baselines: []results.Baseline{{Name: "flat", Title: "flat line", Role: results.RoleConstant, Test: results.Scores{"own": {Value: tc.simple, N: 500}}}},
				},
			}
			got, word := grade(r)
			require.Equal(t, []any{tc.grade, tc.word, tc.perfect}, []any{got, word, perfect(r)})
		})
	}
}

func TestAMetricThatAKindNamesGradesAModel(t *testing.T) {
	t.Parallel()
	low, high := 9.0, 11.0
	r := &results.Result{
		Kind: results.ResultTraining, Metric: "accuracy",
		Described: results.MetricList{{Name: "accuracy", Title: "accuracy", Direction: results.Higher}, {Name: "turn", Title: "turn", Direction: results.Lower, Unit: "degrees", Judges: true}},
		Metrics: results.Metrics{
			Test:      results.Scores{"accuracy": {Value: 0.6, N: 500}, "turn": {Value: 10, Low: &low, High: &high, N: 500}},
			Baselines: []results.Baseline{{Title: "mean direction", Role: results.RoleConstant, Test: results.Scores{"accuracy": {Value: 0.6, N: 500}, "turn": {Value: 60, N: 500}}}},
		},
	}
	metric, _, _ := judged(r)
	require.Equal(t, "turn", metric)
	_, word := grade(r)
	require.Equal(t, "Clearly better than the mean direction", word)
	require.Contains(t, moreScores(r, "accuracy"), "turn 10")
}
