package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func severalLabels(t *testing.T) *results.Result {
	t.Helper()
	r, err := results.DecodeResult(resultstest.Golden(t, results.ResultFile))
	require.NoError(t, err)
	low, high := 0.71, 0.83
	score := func(value, low, high float64, n int) results.Score {
		return results.Score{Value: value, Low: &low, High: &high, N: n}
	}
	scores := results.EntityScores{
		True: 120, Predicted: 110, Right: 90,
		Precision: results.Ranged{Value: 0.818}, Recall: results.Ranged{Value: 0.75}, F1: results.Ranged{Value: 0.783, Low: &low, High: &high},
	}
	r.Task, r.Metrics.Task, r.Metric, r.Model.Base = "multi-label-classification", "multi-label-classification", "f1_micro", "words"
	r.Metrics.Test = results.Scores{"f1_micro": score(0.783, 0.71, 0.83, 60), "f1_macro": score(0.7, 0.6, 0.8, 60)}
	r.Metrics.Baselines = []results.Baseline{
		{Name: results.BaselineConstant, Title: "most frequent label", Test: results.Scores{"f1_micro": score(0.4, 0.35, 0.45, 60)}},
		{Name: results.BaselineLinear, Title: "bag of words", Test: results.Scores{"f1_micro": score(0.69, 0.6, 0.75, 60)}},
	}
	r.LabelSets = &results.LabelSets{
		Overall: scores, Baseline: &results.EntityScores{F1: results.Ranged{Value: 0.69}},
		Labels: []results.LabelScores{{Label: "sports", Threshold: 0.35, EntityScores: scores}, {Label: "<b>", Threshold: 0.5, EntityScores: scores}},
	}
	r.Confusion, r.Calibration, r.Binary, r.Mistakes, r.Unsure = nil, nil, nil, nil, nil
	return r
}

func TestReportShowsTheScoresOfEachLabel(t *testing.T) {
	t.Parallel()
	page := renderResult(t, severalLabels(t))
	for _, text := range []string{
		"The model finds 90 of the 120 labels of the test rows; 90 of its 110 predictions are right.", "With a bag of words, F1 is 0.690.",
		"&lt;b&gt;", "0.710–0.830", "Predicted from", "<td>0.350</td>",
	} {
		require.Contains(t, page, text)
	}
	requireSelfContained(t, page)
	r := severalLabels(t)
	r.LabelSets = nil
	require.NotContains(t, renderResult(t, r), "Predicted from")
}

func TestVerdictOnSeveralLabels(t *testing.T) {
	t.Parallel()
	v := NewVerdict(severalLabels(t))
	require.Equal(t, GradeGood, v.Grade)
	require.Contains(t, v.Sentence, "F1 over all labels 0.783 (95 % interval 0.710 to 0.830) on 60 held-out rows")
	require.Contains(t, v.Sentence, "a bag of words 0.690")
}
