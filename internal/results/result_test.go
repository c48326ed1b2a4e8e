package results_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestAResultNamesWhatItsSplitsConsistOf(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string]string{"": "row", "edge": "edge", "a\n\u202eb": "a b", strings.Repeat("x", 30): strings.Repeat("x", 19) + "…"} {
		require.Equal(t, want, (&results.Result{UnitName: unit}).Unit())
		require.Equal(t, want, (&results.Prediction{UnitName: unit}).Unit())
	}
}

func TestCurvesAreThereWhereANetworkLearnt(t *testing.T) {
	t.Parallel()
	scored := map[string]float64{"loss": 1}
	network := results.Candidate{Sort: results.SortNetwork, Validation: scored}
	delivered := func(c results.Candidate) results.Candidate { c.Chosen = true; return c }
	words := delivered(results.Candidate{Name: "words", Sort: results.SortEstimator, Validation: scored})
	for name, tc := range map[string]struct {
		result results.Result
		curves bool
	}{
		"a result of v0.1.0":                       {results.Result{}, true},
		"a network":                                {results.Result{Candidates: []results.Candidate{delivered(network)}}, true},
		"words beside a network":                   {results.Result{Candidates: []results.Candidate{words, network}}, false},
		"a formula beside a network of a graph":    {results.Result{Training: results.Training{NetworkApart: true}, Candidates: []results.Candidate{words, network}}, true},
		"a formula beside a network that was left": {results.Result{Candidates: []results.Candidate{words, {Sort: results.SortNetwork}}}, false},
		"a network together with formulas": {
			results.Result{Candidates: []results.Candidate{delivered(results.Candidate{Sort: results.SortCombination, Validation: scored})}}, true,
		},
	} {
		require.Equal(t, tc.curves, tc.result.HasCurves(), name)
	}
}

func TestPartsOfAResultAreFoundByName(t *testing.T) {
	t.Parallel()
	r := &results.Result{
		Settings: []results.Setting{{Name: "epochs", Value: 3.0}, {Name: "model", Value: "bert-tiny"}, {Name: "empty"}},
		Outputs:  []results.Output{{Path: "out/a.csv", Size: 1}, {Path: "out/b.csv", Size: 2}},
	}
	r.Metrics.Baselines = []results.Baseline{{Name: "constant", Role: results.RoleConstant}, {Name: "linear", Role: results.RoleSimple, Title: "bag of words"}}

	require.Equal(t, "bert-tiny", r.Setting("model"))
	for _, name := range []string{"epochs", "empty", "none"} {
		require.Empty(t, r.Setting(name), "%s has no text", name)
	}
	o, ok := r.Output("out/b.csv")
	require.True(t, ok)
	require.Equal(t, int64(2), o.Size)
	_, ok = r.Output("out/B.csv")
	require.False(t, ok)
	require.Equal(t, "bag of words", r.Baseline(results.RoleSimple).Title)
	require.Nil(t, r.Baseline(results.RoleFloor))
	r.Baseline(results.RoleSimple).Title = "changed"
	require.Equal(t, "changed", r.Metrics.Baselines[1].Title, "it is the one of the result, not a copy")
}

func TestTrialsAreFoundByTheirNumber(t *testing.T) {
	t.Parallel()
	s := &results.Search{Trials: []results.Trial{{Number: 0}, {Number: 4, Model: "bert"}}}
	require.Equal(t, "bert", s.Trial(4).Model)
	require.Nil(t, s.Trial(1))
	require.Nil(t, (&results.Search{}).Trial(0))
}

func TestSplitsComeInTheOrderOfTheTraining(t *testing.T) {
	t.Parallel()
	r := &results.Result{}
	r.Metrics.Train, r.Metrics.Test = results.Scores{"a": {N: 1}}, results.Scores{"a": {N: 3}}
	var names []string
	var rows []int
	for name, scores := range r.Splits() {
		names, rows = append(names, name), append(rows, scores["a"].N)
	}
	require.Equal(t, []string{"train", "validation", "test"}, names)
	require.Equal(t, []int{1, 0, 3}, rows)
	for name := range r.Splits() {
		require.Equal(t, "train", name)
		break // the loop may end early
	}
}

func TestAScoreWithoutAnIntervalIsItsOwn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		score results.Score
		want  [2]float64
	}{
		"none":       {results.Score{Value: 0.5}, [2]float64{0.5, 0.5}},
		"both":       {results.Score{Value: 0.5, Low: new(0.4), High: new(0.7)}, [2]float64{0.4, 0.7}},
		"low alone":  {results.Score{Value: 0.5, Low: new(0.4)}, [2]float64{0.4, 0.5}},
		"high alone": {results.Score{Value: 0.5, High: new(0.7)}, [2]float64{0.5, 0.7}},
	} {
		low, high := tc.score.Bounds()
		require.Equal(t, tc.want, [2]float64{low, high}, name)
	}
}

func TestWhoEndedARunIsKnown(t *testing.T) {
	t.Parallel()
	for stopped, byHand := range map[string]bool{"stopped by a person": true, results.StoppedEarly: false, results.StoppedByTime: false, results.StoppedDiverged: false, "": false} {
		require.Equal(t, byHand, results.Training{Stopped: stopped}.StoppedByHand(), stopped)
	}
	var none *results.Script
	require.Empty(t, none.StoppedBy())
	require.Empty(t, (&results.Script{}).StoppedBy())
	require.Equal(t, "time", (&results.Script{Stopped: new("time")}).StoppedBy())
	for starts, resumes := range map[int]int{0: 0, 1: 0, 4: 3} {
		require.Equal(t, resumes, (&results.Script{Starts: make([]results.ScriptStart, starts)}).Resumes())
	}
}

func TestJSONIsWrittenForPeopleAndPrograms(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, results.WriteJSON(&out, map[string]any{"b": "<ü & ö>", "a": []int{1}}))
	require.Equal(t, []string{"{", `  "a": [`, "    1", "  ],", `  "b": "<ü & ö>"`, "}", ""}, strings.Split(out.String(), "\n"))

	out.Reset()
	require.ErrorContains(t, results.WriteJSON(&out, math.NaN()), "encode")
	require.Empty(t, out.String(), "nothing of a value that cannot be written is written")
	full := errors.New("the disk is full")
	require.ErrorIs(t, results.WriteJSON(failing{full}, 1), full)
}

// failing is a writer that always fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
