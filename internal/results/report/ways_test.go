package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/graph"
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
			func(r *results.Result) { r.Model.FromScratch, r.BestEpoch, r.Training.Epochs = true, 1, 3 },
			"What may help: a pretrained base model or more rows.",
		},
		"all three": {
			func(r *results.Result) { r.Model.FromScratch, r.BestEpoch, r.Training.Epochs = true, 3, 3 },
			"What may help: a pretrained base model, more rows or more epochs.",
		},
		"a table, for which no pretrained model is there": {
			func(r *results.Result) { r.Model.Kind, r.Model.FromScratch, r.BestEpoch = results.ModelTable, true, 1 },
			"What may help: more rows.",
		},
		"an estimator, which has no epochs": {
			func(r *results.Result) { r.BestEpoch, r.Training.Epochs = 0, 0 }, "What may help: more rows.",
		},
		"the nodes of a graph": {
			func(r *results.Result) {
				r.Task, r.Model.Kind, r.Model.FromScratch, r.BestEpoch = "node-classification", results.ModelGraph, true, 1
			}, "What may help: labels of more nodes.",
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

// TestEachFormOfAModelHasItsOwnGuide: a guide for another form loads nothing, or loads it wrong.
func TestEachFormOfAModelHasItsOwnGuide(t *testing.T) {
	t.Parallel()
	guides := map[string]string{}
	for name, tc := range map[string]struct {
		form          ModelForm
		install, says string
	}{
		"a network of texts": {
			ModelForm{Kind: results.ModelText, Base: "org/bert"},
			"`transformers`, `torch`,",
			"`model/` is a folder in the format of the transformers library; ",
		},
		"an encoder under a linear model": {
			ModelForm{Kind: results.ModelText, Base: "org/encoder", MeanPooled: true},
			"`transformers`, `torch`",
			"`model/" + HeadFile + "` holds the linear model on the mean of its token vectors",
		},
		"an estimator of texts": {
			ModelForm{Kind: results.ModelText, Base: "words"}, "`scikit-learn`, `safetensors`, `numpy`,", "`model/weights.safetensors` holds the weights",
		},
		"an estimator of tables": {
			ModelForm{Kind: results.ModelTable, Base: "trees"}, "`numpy`, `safetensors`,", "`model/config.json` describes the columns",
		},
		"another estimator of tables": {
			ModelForm{Kind: results.ModelTable, Base: "linear"}, "`numpy`, `safetensors`,", "`model/config.json` describes the columns",
		},
		"a network of tables": {
			ModelForm{Kind: results.ModelTable, Base: "org/table"},
			"`numpy`, `safetensors`,",
			"`model/config.json` says how each column is converted to numbers",
		},
		"a language model": {
			ModelForm{Kind: results.ModelLanguage, Base: "org/small"},
			"`transformers`, `torch`, `peft`,",
			"`model/` is a folder in the format of the transformers library",
		},
		"a graph whose nodes have the name of an estimator": {
			ModelForm{Kind: results.ModelGraph, Base: "linear"}, "`numpy`, `scipy`, `safetensors`,", "`model/graph.safetensors` has the nodes",
		},
	} {
		guide := tc.form.Guide(map[string]string{"torch": "2.15.0", "numpy": "2.4"})
		require.Contains(t, guide, "install "+strings.TrimSuffix(tc.install, ","), name)
		require.Contains(t, guide, tc.says, name)
		require.NotEmpty(t, tc.form.Snippet(), name)
		require.Contains(t, guide, "```python\n"+tc.form.Snippet()+"```\n", name)
		for other, snippet := range guides {
			require.NotEqual(t, snippet, tc.form.Snippet(), "%s and %s", name, other)
		}
		guides[name] = tc.form.Snippet()
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
			{Name: results.BaselineConstant, Title: "constant", Test: results.Scores{metric: {Value: simple, N: 50}}},
			{Name: results.BaselineLinear, Title: "bag of words", Test: results.Scores{"other": {Value: 1, N: 50}}},
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
		task, metric     string
		graph            *graph.Description
		test             results.Scores
		validation, want []string
	}{
		"classes": {"text-classification", "accuracy", nil, results.Scores{"accuracy": {N: 1}}, []string{"loss", "accuracy"}, []string{"accuracy"}},
		"numbers": {"text-regression", "rmse", nil, results.Scores{"rmse": {N: 1}}, []string{"loss", "rmse"}, []string{"rmse"}},
		"a loss":  {"text-generation", "loss", nil, nil, []string{"loss"}, []string{"loss"}},
		"links": {
			"link-prediction", "mrr", &graph.Description{},
			results.Scores{"mrr": {N: 1}},
			[]string{"mrr"},
			[]string{"mrr", "hits_at_10", "auc", "average_precision"},
		},
		"nodes by their accuracy": {
			"node-classification", "accuracy", &graph.Description{}, results.Scores{"accuracy": {N: 1}}, []string{"accuracy"}, []string{"accuracy"},
		},
		"nodes of unequal classes": {
			"node-classification", "f1_macro", &graph.Description{},
			results.Scores{"accuracy": {N: 1}},
			[]string{"f1_macro", "accuracy"},
			[]string{"accuracy"},
		},
	} {
		r := &results.Result{Task: tc.task, Metric: tc.metric, Graph: tc.graph, Metrics: results.Metrics{Test: tc.test}}
		validation, test := candidateMetrics(r)
		require.Equal(t, [][]string{tc.validation, tc.want}, [][]string{validation, test}, name)
	}
}
