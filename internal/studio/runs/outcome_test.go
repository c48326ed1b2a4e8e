package runs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestTheFigureOfAResultIsWhatAPersonAsksForFirst(t *testing.T) {
	t.Parallel()
	low, high := 0.7, 0.8
	accuracy := results.Score{Value: 0.75, Low: &low, High: &high, N: 40}
	for name, c := range map[string]struct {
		result results.Result
		want   *Figure
	}{
		"a training has its test score": {
			results.Result{Kind: results.ResultTraining, Metric: "accuracy", Metrics: results.Metrics{Test: results.Scores{"accuracy": accuracy}}},
			&Figure{Metric: "accuracy", Title: "Accuracy", Value: 0.75, Low: &low, High: &high, Rows: 40, Over: overTest},
		},
		"without test rows it has that on the validation rows": {
			results.Result{Kind: results.ResultTraining, Metric: "accuracy", Metrics: results.Metrics{Validation: results.Scores{"accuracy": accuracy}}},
			&Figure{Metric: "accuracy", Title: "Accuracy", Value: 0.75, Low: &low, High: &high, Rows: 40, Over: overValidation},
		},
		"a training without a score has none":     {results.Result{Kind: results.ResultTraining, Metric: "accuracy"}, nil},
		"a score of no rows is none":              {results.Result{Kind: results.ResultTraining, Metric: "accuracy", Metrics: results.Metrics{Test: results.Scores{"accuracy": {Value: 1}}}}, nil},
		"a prediction of labelled rows is scored": {results.Result{Kind: results.ResultPrediction, Described: results.MetricList{results.Named("rmse"), results.Named("r2")}, Prediction: &results.Prediction{Scores: results.Scores{"r2": {Value: 0.9, N: 5}, "rmse": {Value: 2.5, N: 5}}}}, &Figure{Metric: "rmse", Title: "RMSE", Value: 2.5, Rows: 5, Over: "labelled rows", LowerIsBetter: true}},
		"a prediction of other rows is not":       {results.Result{Kind: results.ResultPrediction, Task: "tabular-regression", Prediction: &results.Prediction{}}, nil},
		"a script names its number":               {results.Result{Kind: results.ResultScript, Script: &results.Script{Metric: &results.ScriptMetric{Name: "val_loss", Value: 1.5}}}, &Figure{Metric: "val_loss", Title: "Val loss", Value: 1.5}},
		"or none":                                 {results.Result{Kind: results.ResultScript, Script: &results.Script{}}, nil},
		"a check trains nothing":                  {results.Result{Kind: results.ResultCheck}, nil},
	} {
		if c.want != nil {
			c.want.described = c.result.Named(c.want.Metric)
		}
		require.Equal(t, c.want, figureOf(&c.result), name)
	}
}

func TestAListShowsTheVerdictOfTheReport(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	o := newOutcome(&f.Result)
	require.Equal(t, outcome{kind: results.ResultTraining, task: "text-classification", base: "google/bert-tiny", figure: o.figure, word: o.word, grade: o.grade}, o)
	require.Equal(t, "0.842", o.figure.Text())
	require.Equal(t, "0.824–0.858", o.figure.Interval())
	require.NotEmpty(t, o.word)
	require.Contains(t, []string{"good", "weak", "bad"}, o.grade)
}

func TestAnIntervalIsShownOnlyWhereItIsOne(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		metric    string
		low, high *float64
		want      string
	}{
		{"accuracy", number(0.5), number(0.75), "0.500–0.750"},
		{"mcc", number(-0.25), number(0.5), "-0.250 to 0.500"},
		{"rmse", number(12.5), number(1400), "12.50–1,400"},
		{"accuracy", nil, number(0.75), ""},
		{"accuracy", number(0.5), nil, ""},
		{"accuracy", number(0.5), number(0.5), ""},
		{"accuracy", number(0.75), number(0.5), ""},
	} {
		f := Figure{described: results.Named(c.metric), Low: c.low, High: c.high}
		require.Equal(t, c.want, f.Interval(), "%+v", c)
	}
}

func TestTheFigureOfATrainingThatGoesOnIsItsBestSoFar(t *testing.T) {
	t.Parallel()
	require.Nil(t, figureSoFar(&results.Progress{}))
	require.Nil(t, figureSoFar(&results.Progress{Script: &results.ScriptProgress{Start: 1}}), "a script that has printed no number yet")
	best := figureSoFar(&results.Progress{Best: &results.Best{Metric: "f1_macro", Value: 0.5}})
	require.Equal(t, &Figure{Metric: "f1_macro", Title: "F1", Value: 0.5, Over: overSoFar, described: results.Named("f1_macro")}, best)
	script := figureSoFar(&results.Progress{Script: &results.ScriptProgress{Name: "loss", Value: 2}})
	require.Equal(t, &Figure{Metric: "loss", Title: "Loss", Value: 2, Over: "newest", LowerIsBetter: true, described: results.Named("loss")}, script)
}
