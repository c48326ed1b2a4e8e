package results

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheGravestWarningsStandFirst(t *testing.T) {
	t.Parallel()
	r := &Result{Kind: ResultTraining, Training: Training{Stopped: stoppedByTime, Resumed: 1}, Warnings: []Warning{
		{"from_scratch", "no base model"}, {"truncation", "long texts"}, {"few_rows", "few rows"}, {"few_rows", "few rows"},
	}}
	got := newWarningsPart(r, Progress{})
	require.Equal(t, []string{"few rows", "The time limit ended the training; the best model until then was kept.", "long texts"}, got.First)
	require.Equal(t, []string{"The training was interrupted and went on from a checkpoint once.", "no base model"}, got.Rest)

	leak := Warning{"label_leak", "code tells the label."}
	r.Warnings, r.Checks = []Warning{leak}, []Check{{Code: leak.Code, Level: levelWarning, Text: leak.Text}}
	require.NotContains(t, newWarningsPart(r, Progress{}).First, "code tells the label.", "the verdict has said it")
}

func TestTheFirstScreenSaysWhatToDoNow(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		ResultFile:          "To use it, submit a dataset to ncsa.ray.predict with reviews@champion as its model.",
		"result-check.json": "To train, submit the dataset again with dry_run switched off.",
	} {
		r, err := DecodeResult(readGolden(t, name))
		require.NoError(t, err)
		pg := newPage(nil, r, likelyMeta(r))
		require.Contains(t, pg.Verdict.Lines, want)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(r *Result, c *curves)
		want   string
	}{
		"more epochs": {func(r *Result, _ *curves) { r.BestEpoch = 3 }, "Raise epochs"},
		"time limit":  {func(r *Result, _ *curves) { r.Training.Stopped = "time limit" }, "Raise max_minutes"},
		"overfit":     {func(_ *Result, c *curves) { c.ValidationLoss = []point{{1, 0.5}, {2, 0.4}, {3, 0.9}} }, "by heart"},
		"by heart": {func(r *Result, _ *curves) {
			r.Metrics.Train["accuracy"] = Score{Value: 0.999, N: 6920}
		}, "0.999, but 0.842 on new ones"},
		"underfit": {func(r *Result, _ *curves) {
			r.Metrics.Train["accuracy"], r.Metrics.Test["accuracy"] = Score{Value: 0.6, N: 6920}, Score{Value: 0.6, N: 1821}
		}, "larger model"},
		"a loss that falls to the end":    {func(_ *Result, c *curves) { c.ValidationLoss = []point{{1, 1.2}, {2, 0.4}, {3, 0.12}} }, ""},
		"a loss that wavers near nothing": {func(_ *Result, c *curves) { c.ValidationLoss = []point{{1, 1}, {2, 0.001}, {3, 0.002}} }, ""},
		"a perfect score": {func(r *Result, _ *curves) {
			r.Metrics.Test["accuracy"], r.BestEpoch, r.Model.FromScratch = Score{Value: 1, N: 1821}, 3, true
		}, ""},
		"truncated": {func(r *Result, _ *curves) { r.Data.TruncatedShare = 0.4 }, "Raise max_length"},
		"imbalance": {func(r *Result, _ *curves) { r.Data.Labels["negative"] = 10 }, `Add rows of "negative"`},
		"waiting workers": {func(r *Result, _ *curves) {
			share := 0.4
			r.Training.PerWorker = []Worker{{WaitingShare: &share}, {WaitingShare: &share}}
		}, "40 % of the time"},
		"few rows":           {func(r *Result, _ *curves) { r.Data.Rows.Train = 80 }, "Add data"},
		"from scratch":       {func(r *Result, _ *curves) { r.Model.FromScratch = true }, "pretrained"},
		"nothing to improve": {func(*Result, *curves) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			c := curves{}
			tc.change(&f.result, &c)
			got := advice(c, &f.result)
			if tc.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], tc.want)
		})
	}
}
