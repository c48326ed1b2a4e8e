package results_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/graph"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// TestListsWithoutAnEndAreRefused: a broken trainer must not fill the memory or a report.
func TestListsWithoutAnEndAreRefused(t *testing.T) {
	t.Parallel()
	const many = results.MaxList + 1
	parts := make([]results.EntityPart, many)
	for name, tc := range map[string]struct {
		change func(r *results.Result)
		text   string
	}{
		"checks":   {func(r *results.Result) { r.Checks = make([]results.Check, many) }, "1001 checks are too many"},
		"warnings": {func(r *results.Result) { r.Warnings = make([]results.Warning, many) }, "1001 warnings are too many"},
		"labels":   {func(r *results.Result) { r.Model.Labels = make([]string, 10_001) }, "10001 labels are too many"},
		"columns":  {func(r *results.Result) { r.Data.InputColumns = make([]string, 10_001) }, "10001 columns are too many"},
		"reasons":  {func(r *results.Result) { r.Data.Dropped = make([]results.Dropped, many) }, "1001 reasons are too many"},
		"workers":  {func(r *results.Result) { r.Training.PerWorker = make([]results.Worker, 10_001) }, "10001 workers are too many"},
		"samples":  {func(r *results.Result) { r.Data.Samples = make([]results.Example, results.MaxShown+1) }, "101 samples are too many"},
		"unsure":   {func(r *results.Result) { r.Unsure = make([]results.Example, results.MaxShown+1) }, "101 unsure are too many"},
		"examples": {func(r *results.Result) { r.Examples = make([]results.WholeExample, results.MaxShown+1) }, "101 examples are too many"},
		"an example of many columns": {func(r *results.Result) {
			r.Examples = []results.WholeExample{{Input: numbered(10_001, "")}}
		}, "10001 examples.input are too many"},
		"baselines":  {func(r *results.Result) { r.Metrics.Baselines = make([]results.Baseline, results.MaxShown+1) }, "101 baselines are too many"},
		"candidates": {func(r *results.Result) { r.Candidates = make([]results.Candidate, results.MaxShown+1) }, "101 candidates are too many"},
		"metrics":    {func(r *results.Result) { r.Metrics.Train = numbered(many, results.Score{N: 1}) }, "1001 metrics are too many"},
		"metrics of a candidate": {func(r *results.Result) {
			r.Candidates = []results.Candidate{{Test: numbered(many, results.Score{})}}
		}, "1001 metrics are too many"},
		"bins":       {func(r *results.Result) { r.Calibration.Bins = make([]results.CalibrationBin, many) }, "1001 bins are too many"},
		"thresholds": {func(r *results.Result) { r.Binary.Thresholds = make([]results.Threshold, many) }, "1001 thresholds are too many"},
		"counts of a histogram": {func(r *results.Result) {
			r.Data.Lengths = &results.Histogram{Counts: make([]int, many), Edges: make([]float64, many+1)}
		}, "a histogram has too many counts"},
		"points of a regression": {func(r *results.Result) {
			r.Regression = &results.Regression{Points: make([][]float64, 10_001)}
		}, "10001 points are too many"},
		"types of entities": {func(r *results.Result) { r.Entities = &results.Entities{Types: make([]results.EntityType, 10_001)} }, "types of entities are too many"},
		"confused types": {func(r *results.Result) {
			r.Entities = &results.Entities{Confusion: make([]results.EntityConfusion, many)}
		}, "confused types are too many"},
		"sentences": {func(r *results.Result) { r.Entities = &results.Entities{Examples: make([]results.EntityExample, many)} }, "sentences are too many"},
		"parts of a sentence": {func(r *results.Result) {
			r.Entities = &results.Entities{Examples: []results.EntityExample{{Parts: parts}}}
		}, "parts of a sentence are too many"},
		"scores of label sets": {func(r *results.Result) { r.LabelSets = &results.LabelSets{Labels: make([]results.LabelScores, 10_001)} }, "10001 labels are too many"},
		"layers":               {func(r *results.Result) { r.Model.Graph = &graph.Network{Fanout: make([]int64, 101)} }, "101 layers are too many"},
		"pairs":                {func(r *results.Result) { r.Graph = &graph.Description{Likely: make([]graph.Pair, 101)} }, "101 pairs are too many"},
		"options of a trial": {func(r *results.Result) {
			r.Search = &results.Search{Trials: []results.Trial{{Settings: numbered[any](results.MaxShown+1, 1)}}}
		}, "101 options are too many"},
		"curves of trials": {func(r *results.Result) {
			r.Search = &results.Search{Curves: make([]results.TrialCurve, results.MaxShown+1)}
		}, "101 curves are too many"},
		"points of a trial": {func(r *results.Result) {
			r.Search = &results.Search{Curves: []results.TrialCurve{{Points: make([][]float64, many)}}}
		}, "1001 points are too many"},
		"options that repeat a search": {func(r *results.Result) {
			r.Search = &results.Search{Repeat: numbered[any](many, 1)}
		}, "1001 options are too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, results.ResultFile, tc.change, tc.text)
		})
	}
}

func TestAnswersOfALanguageModelAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 33<<10)
	for name, tc := range map[string]struct {
		change func(l *results.Language)
		text   string
	}{
		"answers":                      {func(l *results.Language) { l.Samples = make([]results.Answered, results.MaxShown+1) }, "101 answers are too many"},
		"parts of an example":          {func(l *results.Language) { l.Example = make([]results.LearntPart, results.MaxList+1) }, "1001 parts of an example are too many"},
		"ways":                         {func(l *results.Language) { l.Ways = numbered(results.MaxList+1, 1) }, "1001 ways are too many"},
		"a long example":               {func(l *results.Language) { l.Example[0].Text = long + long }, "bytes of an example are too many"},
		"a long prompt and answer":     {func(l *results.Language) { l.Samples[0].Prompt, l.Samples[0].After = long, long }, "bytes of an answer are too many"},
		"a long answer before and now": {func(l *results.Language) { l.Samples[0].Before, l.Samples[0].Wanted = &long, long }, "bytes of an answer are too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, "result-language.json", func(r *results.Result) { tc.change(r.Language) }, tc.text)
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
		"a loss beyond all numbers":      {func(s *results.Search) { s.Trials[0].Loss = new(1e305) }, "a figure of a trial"},
		"a value beyond all numbers":     {func(s *results.Search) { s.Trials[0].Value = new(-1e305) }, "a figure of a trial"},
		"a point beyond all numbers":     {func(s *results.Search) { s.Curves[0].Points[0][2] = 1e305 }, "a point of the losses"},
		"a difference beyond all":        {func(s *results.Search) { s.Comparison = &results.Comparison{Difference: 1e305} }, "a comparison of trials"},
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
