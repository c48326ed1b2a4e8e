package results_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestAMetricHasOneNameEverywhere(t *testing.T) {
	t.Parallel()
	for metric, want := range map[string][2]string{
		"accuracy":                  {"accuracy", "Accuracy"},
		"f1":                        {"F1", "F1"},
		"f1_macro":                  {"F1", "F1"},
		"f1_weighted":               {"weighted F1", "Weighted F1"},
		"roc_auc":                   {"ROC AUC", "ROC AUC"},
		"mcc":                       {"MCC", "MCC"},
		"rmse":                      {"RMSE", "RMSE"},
		"mae":                       {"MAE", "MAE"},
		"r2":                        {"R²", "R²"},
		"spearman":                  {"rank correlation", "Rank correlation"},
		"top_5_accuracy":            {"top 5 accuracy", "Top 5 accuracy"},
		"a\nhostile\u202e_metric":   {"a hostile metric", "A hostile metric"},
		strings.Repeat("long_", 40): {strings.Repeat("long ", 12)[:59] + "…", "L" + strings.Repeat("long ", 12)[1:59] + "…"},
	} {
		require.Equal(t, want, [2]string{results.Named(metric).Words(), results.Named(metric).Head()}, metric)
	}
}

func TestErrorsAreBetterWhereTheyAreLower(t *testing.T) {
	t.Parallel()
	for metric, lower := range map[string]bool{"loss": true, "rmse": true, "mae": true, "accuracy": false, "r2": false, "mcc": false, "unknown": false} {
		require.Equal(t, lower, results.Named(metric).LowerIsBetter(), metric)
		require.Equal(t, lower, results.Named(metric).IsBetter(1, 2), metric)
		require.Equal(t, !lower, results.Named(metric).IsBetter(2, 1), metric)
		require.False(t, results.Named(metric).IsBetter(1, 1), "%s: the same is no better", metric)
	}
}

func TestTheFirstScoreIsTheOneAPersonAsksFor(t *testing.T) {
	t.Parallel()
	scores := results.Scores{"f1_macro": {Value: 0.8, N: 5}, "accuracy": {Value: 0.9, N: 5}, "mae": {Value: 3, N: 5}}
	r := results.Result{Described: results.MetricList{{Name: "rmse"}, {Name: "accuracy"}, {Name: "mae"}, {Name: "f1_macro"}}}
	metric, s, ok := r.FirstScore(scores)
	require.True(t, ok)
	require.Equal(t, "accuracy", metric)
	require.InDelta(t, 0.9, s.Value, 0)
	_, _, ok = r.FirstScore(results.Scores{"accuracy": {Value: 1}})
	require.False(t, ok, "a score over no rows says nothing")
	_, _, ok = r.FirstScore(nil)
	require.False(t, ok)
}

func TestATextOfStrangersIsShownShortAndPlain(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a b", results.Plain("a\n\x00b", "nothing"))
	require.Equal(t, "nothing", results.Plain(" \n\u202e", "nothing"))
	require.LessOrEqual(t, utf8.RuneCountInString(results.Plain(strings.Repeat("é", 1<<20), "")), results.MaxText)
}

func TestAModelOfAPredictionHasAName(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]results.PredictionModel{
		"reviews/3":                 {Name: "reviews", Version: 3, Run: "ft-1"},
		"ft-1":                      {Name: "reviews", Run: "ft-1"},
		"the model bert":            {Base: "bert"},
		"the model of this dataset": {},
	} {
		require.Equal(t, want, m.Ref())
	}
}

func TestProgressNamesTheMetricThatCounts(t *testing.T) {
	t.Parallel()
	var p results.Progress
	_, _, ok := p.Metric()
	require.False(t, ok, "nothing was evaluated yet")
	p.Validation = &results.Evaluation{Metrics: map[string]float64{"loss": 0.5, "accuracy": 0.9, "r2": 0.1}}
	name, value, ok := p.Metric()
	require.True(t, ok)
	require.Equal(t, "accuracy", name)
	require.InDelta(t, 0.9, value, 0)
	p.Best = &results.Best{Metric: "r2"}
	name, _, _ = p.Metric()
	require.Equal(t, "r2", name, "the metric that chooses the best model comes first")
}
