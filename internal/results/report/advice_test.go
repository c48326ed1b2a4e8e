package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestTheGravestWarningsStandFirst(t *testing.T) {
	t.Parallel()
	r := &results.Result{Kind: results.ResultTraining, Training: results.Training{Stopped: results.StoppedByTime, Resumed: 1}, Warnings: []results.Warning{
		{Code: "from_scratch", Text: "no base model"}, {Code: "truncation", Text: "long texts"}, {Code: "few_rows", Text: "few rows"}, {Code: "few_rows", Text: "few rows"},
	}}
	got := newWarningsPart(r, results.Progress{})
	require.Equal(t, []string{"few rows", "The time limit ended training; the best model so far was kept.", "long texts"}, got.First)
	require.Equal(t, []string{"Training was interrupted and resumed from a checkpoint once.", "no base model"}, got.Rest)

	leak := results.Warning{Code: "label_leak", Text: "code tells the label."}
	r.Warnings, r.Checks = []results.Warning{leak}, []results.Check{{Code: leak.Code, Level: results.LevelWarning, Text: leak.Text}}
	require.NotContains(t, newWarningsPart(r, results.Progress{}).First, "code tells the label.", "the verdict has said it")
}

func TestTheFirstScreenSaysWhatToDoNow(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		results.ResultFile:  "To use it, submit a dataset to ncsa.ray.predict and enter reviews@champion as the model.",
		"result-check.json": "To train, submit the dataset again with dry_run off.",
	} {
		r, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err)
		pg := newPage(nil, r, resultstest.LikelyMeta(r), Files{})
		require.Contains(t, pg.Verdict.Lines, want)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(r *results.Result, c *chart.Curves)
		want   string
	}{
		"more epochs": {func(r *results.Result, _ *chart.Curves) { r.BestEpoch = 3 }, "Raise epochs"},
		"time limit":  {func(r *results.Result, _ *chart.Curves) { r.Training.Stopped = "time limit" }, "Raise max_minutes"},
		"overfit": {func(_ *results.Result, c *chart.Curves) {
			c.ValidationLoss = []chart.Point{{X: 1, Y: 0.5}, {X: 2, Y: 0.4}, {X: 3, Y: 0.9}}
		}, "starts to overfit"},
		"overfits": {func(r *results.Result, _ *chart.Curves) {
			r.Metrics.Train["accuracy"] = results.Score{Value: 0.999, N: 6920}
		}, "0.999 on the training rows, 0.842 on the test rows"},
		"underfit": {func(r *results.Result, _ *chart.Curves) {
			r.Metrics.Train["accuracy"], r.Metrics.Test["accuracy"] = results.Score{Value: 0.6, N: 6920}, results.Score{Value: 0.6, N: 1821}
		}, "larger model"},
		"a loss that falls to the end": {func(_ *results.Result, c *chart.Curves) {
			c.ValidationLoss = []chart.Point{{X: 1, Y: 1.2}, {X: 2, Y: 0.4}, {X: 3, Y: 0.12}}
		}, ""},
		"a loss that wavers near nothing": {func(_ *results.Result, c *chart.Curves) {
			c.ValidationLoss = []chart.Point{{X: 1, Y: 1}, {X: 2, Y: 0.001}, {X: 3, Y: 0.002}}
		}, ""},
		"a perfect score": {func(r *results.Result, _ *chart.Curves) {
			r.Metrics.Test["accuracy"], r.BestEpoch, r.Model.FromScratch = results.Score{Value: 1, N: 1821}, 3, true
		}, ""},
		"truncated": {func(r *results.Result, _ *chart.Curves) { r.Data.TruncatedShare = 0.4 }, "Raise max_length"},
		"imbalance": {func(r *results.Result, _ *chart.Curves) { r.Data.Labels["negative"] = 10 }, `Add rows of "negative"`},
		"waiting workers": {func(r *results.Result, _ *chart.Curves) {
			share := 0.4
			r.Training.PerWorker = []results.Worker{{WaitingShare: &share}, {WaitingShare: &share}}
		}, "40 % of the time"},
		"few rows":           {func(r *results.Result, _ *chart.Curves) { r.Data.Rows.Train = 80 }, "Add data"},
		"from scratch":       {func(r *results.Result, _ *chart.Curves) { r.Model.FromScratch, r.Model.GainsByBase = true, true }, "pretrained"},
		"nothing to improve": {func(*results.Result, *chart.Curves) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			c := chart.Curves{}
			tc.change(&f.Result, &c)
			got := advice(c, &f.Result)
			if tc.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], tc.want)
		})
	}
}
