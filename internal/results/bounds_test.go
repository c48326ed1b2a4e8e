package results_test

import (
	"strings"
	"testing"

	"github.com/ncsa/clowder-ray/internal/results"
)

const (
	predicted = "result-prediction.json"
	scripted  = "result-script.json"
	regressed = "result-regression.json"
)

// TestListsOfEachKindOfRunAreBounded: a report shows every list, so each has its own limit.
func TestListsOfEachKindOfRunAreBounded(t *testing.T) {
	t.Parallel()
	const many = maxList + 1
	names := make([]string, 10_001)
	for name, tc := range map[string]struct {
		golden string
		change func(r *results.Result)
		text   string
	}{
		"packages":             {results.ResultFile, func(r *results.Result) { r.Versions = numbered(many, "1") }, "versions: 1,001 are too many"},
		"labels of the data":   {results.ResultFile, func(r *results.Result) { r.Data.Labels = numbered(10_001, 1) }, "data.labels: 10,001 are too many"},
		"columns of the model": {results.ResultFile, func(r *results.Result) { r.Model.Columns = names }, "model.columns: 10,001 are too many"},
		"metrics of the validation": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Validation = numbered(many, results.Score{}) },
			"metrics.validation: 1,001 are too many",
		},
		"metrics of a simple model": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Baselines[0].Test = numbered(many, results.Score{}) }, "metrics.baselines.0.test: 1,001 are too many",
		},
		"metrics of the champion": {
			results.ResultFile, func(r *results.Result) { r.Champion.Test = numbered(many, results.Score{}) },
			"champion.test: 1,001 are too many",
		},
		"points of a ROC curve": {results.ResultFile, func(r *results.Result) { r.Binary.ROC = make([][]float64, 10_001) }, "binary.roc: 10,001 are too many"},
		"edges without counts": {
			results.ResultFile, func(r *results.Result) { r.Data.Lengths.Edges = make([]float64, many+1) }, "data.lengths.edges: 1,002 are too many",
		},
		"metrics of the default settings": {
			regressed, func(r *results.Result) { r.Search.DefaultTest = numbered(many, results.Score{}) }, "search.default_test: 1,001 are too many",
		},
		"residuals": {
			regressed, func(r *results.Result) { r.Regression.Residuals.Counts = make([]int, many) }, "regression.residuals.counts: 1,001 are too many",
		},
		"labels that were predicted": {predicted, func(r *results.Result) { r.Prediction.Counts = numbered(10_001, 1) }, "prediction.counts: 10,001 are too many"},
		"labels of the model":        {predicted, func(r *results.Result) { r.Prediction.Model.Labels = names }, "prediction.model.labels: 10,001 are too many"},
		"columns that were read":     {predicted, func(r *results.Result) { r.Prediction.InputColumns = names }, "prediction.input_columns: 10,001 are too many"},
		"predictions that are shown": {
			predicted, func(r *results.Result) { r.Prediction.Samples = make([]results.Example, maxShown+1) },
			"prediction.samples: 101 are too many",
		},
		"metrics of the predicted rows": {
			predicted, func(r *results.Result) { r.Prediction.Scores = numbered(many, results.Score{}) },
			"prediction.scores: 1,001 are too many",
		},
		"the spread of the answers": {
			predicted, func(r *results.Result) { r.Prediction.Values = &results.Histogram{Counts: make([]int, many)} }, "prediction.values.counts: 1,001 are too many",
		},
		"words of a command": {scripted, func(r *results.Result) { r.Script.Command = make([]string, many) }, "script.command: 1,001 are too many"},
		"starts":             {scripted, func(r *results.Result) { r.Script.Starts = make([]results.ScriptStart, many) }, "script.starts: 1,001 are too many"},
		"files of code":      {scripted, func(r *results.Result) { r.Script.Code = make([]results.CodeFile, 10_001) }, "script.code: 10,001 are too many"},
		"requirements":       {scripted, func(r *results.Result) { r.Script.Requirements = make([]string, many) }, "script.requirements: 1,001 are too many"},
		"numbers": {
			scripted, func(r *results.Result) { r.Script.Numbers = numbered(many, results.ScriptNumber{}) },
			"script.numbers: 1,001 are too many",
		},
		"files that are no use": {
			scripted, func(r *results.Result) { r.Script.LeftOut = make([]results.LeftOut, 10_001) },
			"script.left_out: 10,001 are too many",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, tc.golden, tc.change, tc.text)
		})
	}
}

func TestAnIntervalUpsideDownIsNamed(t *testing.T) {
	t.Parallel()
	wrong := func(metric string) results.Scores {
		return results.Scores{metric: {Value: 0.5, Low: new(0.6), High: new(0.4), N: 9}}
	}
	for name, tc := range map[string]struct {
		golden string
		change func(r *results.Result)
		text   string
	}{
		"the training rows": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Train = wrong("f1_macro") },
			"the interval of the f1_macro of the train rows is impossible",
		},
		"the test rows": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test = wrong("accuracy") }, "the interval of the accuracy of the test rows is impossible",
		},
		"a low end above the value": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test["mcc"] = results.Score{Value: 0.1, Low: new(0.2)} },
			"the interval of the mcc of the test rows is impossible",
		},
		"a high end below the value": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test["mcc"] = results.Score{Value: 0.1, High: new(0.05)} },
			"the interval of the mcc of the test rows is impossible",
		},
		"the earlier version": {
			results.ResultFile, func(r *results.Result) { r.Champion.Test = wrong("accuracy") },
			"the interval of the accuracy of the champion's rows is impossible",
		},
		"the default settings": {
			regressed, func(r *results.Result) { r.Search.DefaultTest = wrong("rmse") },
			"the interval of the rmse of the default settings' test rows is impossible",
		},
		"the predicted rows": {
			predicted, func(r *results.Result) { r.Prediction.Scores = wrong("accuracy") }, "the interval of the accuracy of the predicted rows is impossible",
		},
		"the test rows of the model that predicts": {
			predicted, func(r *results.Result) { r.Prediction.TrainedScores = wrong("accuracy") },
			"the interval of the accuracy of the model's test rows is impossible",
		},
		"a metric of a hostile name": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test = wrong("a\n" + strings.Repeat("x", 99)) }, "the interval of the a xxx",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, tc.golden, tc.change, tc.text)
		})
	}
}

func TestAHistogramThatDoesNotFitTogetherIsNamed(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]results.Histogram{
		"no counts":          {Edges: []float64{0}, Counts: []int{}},
		"an edge less":       {Edges: []float64{0}, Counts: []int{1}},
		"an edge more":       {Edges: []float64{0, 1, 2}, Counts: []int{1}},
		"edges that go back": {Edges: []float64{0, 2, 1}, Counts: []int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, results.ResultFile, func(r *results.Result) { r.Data.Lengths = &h }, "lengths: a histogram does not fit together")
			requireRefused(t, regressed, func(r *results.Result) { r.Regression.Residuals = h }, "residuals: a histogram does not fit together")
			requireRefused(t, predicted, func(r *results.Result) { r.Prediction.Values = &h }, "values: a histogram does not fit together")
		})
	}
}
