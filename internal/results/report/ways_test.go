package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestWhatMayHelpFitsTheModel(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(r *results.Result)
		want   string
	}{
		"a pretrained model that was best early": {
			func(r *results.Result) { r.BestEpoch, r.Training.Epochs = 1, 3 }, "What may help: more rows.",
		},
		"the last epoch was best": {
			func(r *results.Result) { r.BestEpoch, r.Training.Epochs = 3, 3 }, "What may help: more rows or more epochs.",
		},
		"a model that knows nothing yet": {
			func(r *results.Result) {
				r.Model.FromScratch, r.Model.GainsByBase, r.BestEpoch, r.Training.Epochs = true, true, 1, 3
			},
			"What may help: a pretrained base model or more rows.",
		},
		"all three": {
			func(r *results.Result) {
				r.Model.FromScratch, r.Model.GainsByBase, r.BestEpoch, r.Training.Epochs = true, true, 3, 3
			},
			"What may help: a pretrained base model, more rows or more epochs.",
		},
		"a table, for which no pretrained model is there": {
			func(r *results.Result) { r.Model.FromScratch, r.BestEpoch = true, 1 },
			"What may help: more rows.",
		},
		"an estimator, which has no epochs": {
			func(r *results.Result) { r.BestEpoch, r.Training.Epochs = 0, 0 }, "What may help: more rows.",
		},
		"the nodes of a graph": {
			func(r *results.Result) {
				r.UnitName, r.Model.FromScratch, r.BestEpoch = "node", true, 1
			}, "What may help: more nodes.",
		},
		"nothing is left to improve": {
			func(r *results.Result) { r.Metrics.Test["accuracy"] = results.Score{Value: 1, N: 10} }, "",
		},
		"a simple model that comes along": {
			func(r *results.Result) {
				r.BestEpoch = 1
				r.Outputs = append(r.Outputs, results.Output{Path: "out/baseline/config.json"})
			}, "What may help: more rows. The baseline is delivered as baseline.zip.",
		},
		"a simple model that is as right as can be": {
			func(r *results.Result) {
				r.Metrics.Test["accuracy"] = results.Score{Value: 1, N: 10}
				r.Outputs = append(r.Outputs, results.Output{Path: "out/baseline/config.json"})
			}, "The baseline is delivered as baseline.zip.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			tc.change(&f.Result)
			require.Equal(t, tc.want, help(&f.Result))
		})
	}
}

func TestTheScoreIsDrawnBesideTheSimpleModels(t *testing.T) {
	t.Parallel()
	score := func(v, low, high float64) results.Score {
		return results.Score{Value: v, Low: &low, High: &high, N: 50}
	}
	bar := func(metric, task string, s results.Score, simple float64) *scoreBar {
		r := &results.Result{Kind: results.ResultTraining, Task: task, Metric: metric}
		r.Metrics.Test = results.Scores{metric: s}
		r.Metrics.Baselines = []results.Baseline{
			{Name: "constant", Role: results.RoleConstant, Title: "constant", Test: results.Scores{metric: {Value: simple, N: 50}}},
			{Name: "linear", Role: results.RoleSimple, Title: "bag of words", Test: results.Scores{"other": {Value: 1, N: 50}}},
		}
		return newScoreBar(r)
	}
	for name, tc := range map[string]struct {
		bar  *scoreBar
		want *scoreBar
	}{
		"a share": {
			bar("accuracy", "text-classification", score(0.8, 0.7, 0.9), 0.5),
			&scoreBar{From: "0", To: "1", Low: 70, Width: 20, Value: 80, Marks: []scoreBarMark{{50, "constant", "constant"}}},
		},
		"an error, on a scale that holds the worst": {
			bar("rmse", "text-regression", score(5, 4, 6), 10),
			&scoreBar{From: "0 (no error)", To: "10.80", Low: 37, Width: 18.6, Value: 46.3, Marks: []scoreBarMark{{92.6, "constant", "constant"}}},
		},
		"an interval that nobody would see": {
			bar("accuracy", "text-classification", score(0.8, 0.8, 0.8), 0.5),
			&scoreBar{From: "0", To: "1", Low: 80, Width: 0.6, Value: 80, Marks: []scoreBarMark{{50, "constant", "constant"}}},
		},
		"a score below zero has no place": {bar("r2", "text-regression", score(-0.2, -0.4, 0.1), 0), nil},
		"a score above one has no place":  {bar("accuracy", "text-classification", score(0.9, 0.8, 1.2), 0.5), nil},
		"no error at all has no scale":    {bar("rmse", "text-regression", score(0, 0, 0), 0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.bar)
		})
	}
	require.Nil(t, newScoreBar(&results.Result{Kind: results.ResultCheck}))
}

func TestTheTableOfCandidatesHasTheMetricThatChose(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		metric, chosenBy string
		described        results.MetricList
		test             results.Scores
		validation, want []string
	}{
		"classes": {"accuracy", "", nil, results.Scores{"accuracy": {N: 1}}, []string{"loss", "accuracy"}, []string{"accuracy"}},
		"a loss":  {"loss", "", nil, nil, []string{"loss"}, []string{"loss"}},
		"a metric that grades": {
			"mrr", "mrr", results.MetricList{{Name: "mrr"}, {Name: "auc", Judges: true}}, results.Scores{"mrr": {N: 1}}, []string{"mrr"}, []string{"mrr", "auc"},
		},
		"classes of unequal size": {
			"f1_macro", "f1_macro",
			results.MetricList{{Name: "accuracy"}, {Name: "f1_macro"}},
			results.Scores{"accuracy": {N: 1}},
			[]string{"f1_macro", "accuracy"},
			[]string{"accuracy"},
		},
	} {
		r := &results.Result{Metric: tc.metric, ChosenBy: tc.chosenBy, Described: tc.described, Metrics: results.Metrics{Test: tc.test}}
		validation, test := candidateMetrics(r)
		require.Equal(t, [][]string{tc.validation, tc.want}, [][]string{validation, test}, name)
	}
}
