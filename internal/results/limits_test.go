package results_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// The limits of the contract that the tests go to: of lists, of lists that are shown, and of names.
const (
	maxList  = 1_000
	maxShown = 100
	maxName  = 4096
)

// TestListsWithoutAnEndAreRefused: a broken trainer must not fill the memory or a report.
func TestListsWithoutAnEndAreRefused(t *testing.T) {
	t.Parallel()
	const many = maxList + 1
	for name, tc := range map[string]struct {
		change func(r *results.Result)
		text   string
	}{
		"checks":   {func(r *results.Result) { r.Checks = make([]results.Check, many) }, "checks: 1,001 are too many"},
		"warnings": {func(r *results.Result) { r.Warnings = make([]results.Warning, many) }, "warnings: 1,001 are too many"},
		"labels":   {func(r *results.Result) { r.Model.Labels = make([]string, 10_001) }, "model.labels: 10,001 are too many"},
		"columns":  {func(r *results.Result) { r.Data.InputColumns = make([]string, 10_001) }, "data.input_columns: 10,001 are too many"},
		"unread":   {func(r *results.Result) { r.Data.NotRead = make([]job.NotRead, many) }, "data.not_read: 1,001 are too many"},
		"reasons":  {func(r *results.Result) { r.Data.Dropped = make([]results.Dropped, many) }, "data.dropped: 1,001 are too many"},
		"workers":  {func(r *results.Result) { r.Training.PerWorker = make([]results.Worker, 10_001) }, "training.per_worker: 10,001 are too many"},
		"samples":  {func(r *results.Result) { r.Data.Samples = make([]results.Example, maxShown+1) }, "data.samples: 101 are too many"},
		"unsure":   {func(r *results.Result) { r.Unsure = make([]results.Example, maxShown+1) }, "unsure: 101 are too many"},
		"examples": {func(r *results.Result) { r.Examples = make([]results.WholeExample, maxShown+1) }, "examples: 101 are too many"},
		"an example of many columns": {func(r *results.Result) {
			r.Examples = []results.WholeExample{{Input: numbered(10_001, "")}}
		}, "examples.0.input: 10,001 are too many"},
		"baselines":  {func(r *results.Result) { r.Metrics.Baselines = make([]results.Baseline, maxShown+1) }, "metrics.baselines: 101 are too many"},
		"candidates": {func(r *results.Result) { r.Candidates = make([]results.Candidate, maxShown+1) }, "candidates: 101 are too many"},
		"metrics":    {func(r *results.Result) { r.Metrics.Train = numbered(many, results.Score{N: 1}) }, "metrics.train: 1,001 are too many"},
		"metrics of a candidate": {func(r *results.Result) {
			r.Candidates = []results.Candidate{{Test: numbered(many, results.Score{})}}
		}, "candidates.0.test: 1,001 are too many"},
		"bins":       {func(r *results.Result) { r.Calibration.Bins = make([]results.CalibrationBin, many) }, "calibration.bins: 1,001 are too many"},
		"thresholds": {func(r *results.Result) { r.Binary.Thresholds = make([]results.Threshold, many) }, "binary.thresholds: 1,001 are too many"},
		"counts of a histogram": {func(r *results.Result) {
			r.Data.Lengths = &results.Histogram{Counts: make([]int, many), Edges: make([]float64, many)}
		}, "data.lengths.counts: 1,001 are too many"},
		"points of a regression": {func(r *results.Result) {
			r.Regression = &results.Regression{Points: make([][]float64, 10_001)}
		}, "regression.points: 10,001 are too many"},
		"options of a trial": {func(r *results.Result) {
			r.Search = &results.Search{Trials: []results.Trial{{Settings: numbered[any](maxShown+1, 1)}}}
		}, "search.trials.0.settings: 101 are too many"},
		"curves of trials": {func(r *results.Result) {
			r.Search = &results.Search{Curves: make([]results.TrialCurve, maxShown+1)}
		}, "search.curves: 101 are too many"},
		"points of a trial": {func(r *results.Result) {
			r.Search = &results.Search{Curves: []results.TrialCurve{{Points: make([][]float64, many)}}}
		}, "search.curves.0.points: 1,001 are too many"},
		"options that repeat a search": {func(r *results.Result) {
			r.Search = &results.Search{Repeat: numbered[any](many, 1)}
		}, "search.repeat: 1,001 are too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, results.ResultFile, tc.change, tc.text)
		})
	}
}

func TestASearchMustFitTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(s *results.Search)
		text   string
	}{
		"no trials":                      {func(s *results.Search) { s.Trials = []results.Trial{} }, "search.trials: minItems"},
		"a best trial that is not there": {func(s *results.Search) { s.Best = new(77) }, "a trial that it does not have"},
		"a number twice":                 {func(s *results.Search) { s.Trials[1].Number = s.Trials[0].Number }, "not in their order"},
		"a loss beyond all numbers":      {func(s *results.Search) { s.Trials[0].Loss = new(1e305) }, "search.trials.0.loss: maximum"},
		"a value beyond all numbers":     {func(s *results.Search) { s.Trials[0].Value = new(-1e305) }, "search.trials.0.value: minimum"},
		"a point beyond all numbers":     {func(s *results.Search) { s.Curves[0].Points[0][2] = 1e305 }, "search.curves.0.points.0.2: the number is impossible"},
		"a difference beyond all":        {func(s *results.Search) { s.Comparison = &results.Comparison{Difference: 1e305} }, "search.comparison.difference: maximum"},
		"an error beyond all":            {func(s *results.Search) { s.TestComparison = &results.Comparison{Error: new(1e305)} }, "search.test_comparison.error: maximum"},
		"an interval upside down": {func(s *results.Search) {
			s.BestTest = results.Scores{"rmse": {Value: 1, Low: new(2.0), High: new(1.0)}}
		}, "the interval of the rmse of the best trial's test rows is impossible"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, "result-regression.json", func(r *results.Result) { tc.change(r.Search) }, tc.text)
		})
	}
}

// requireRefused changes a golden result, and requires that it is refused in one short line.
func requireRefused(t *testing.T, golden string, change func(*results.Result), words string) {
	t.Helper()
	r, err := results.DecodeResult(resultstest.Golden(t, golden))
	require.NoError(t, err)
	change(r)
	doc, err := json.Marshal(r)
	require.NoError(t, err)
	_, err = results.DecodeResult(doc)
	require.ErrorContains(t, err, words)
	require.NotContains(t, err.Error(), "\n", "users read it as one line")
	require.Less(t, len(err.Error()), 1000)
}

// numbered maps n names to v.
func numbered[V any](n int, v V) map[string]V {
	all := make(map[string]V, n)
	for i := range n {
		all[strings.Repeat("x", i%50)+string(rune('a'+i/50))] = v
	}
	return all
}
