package results_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestGoldenFilesAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, name := range []string{results.ResultFile, "result-regression.json", "result-image.json", "result-prediction.json", "result-check.json", "result-language.json", "result-graph.json", "result-graph-prediction.json", "result-script.json", "result-script-partial.json"} {
		result, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err, name)
		requireSameJSON(t, resultstest.Golden(t, name), result)
	}
	failure, err := results.DecodeFailure(resultstest.Golden(t, results.FailureFile))
	require.NoError(t, err)
	requireSameJSON(t, resultstest.Golden(t, results.FailureFile), failure)

	var metrics results.Metrics
	require.NoError(t, json.Unmarshal(resultstest.Golden(t, "metrics.json"), &metrics))
	requireSameJSON(t, resultstest.Golden(t, "metrics.json"), metrics)
}

// TestResultsOfSchema2AreUnderstood: runs of earlier versions are shown and compared as those of this one.
func TestResultsOfSchema2AreUnderstood(t *testing.T) {
	t.Parallel()
	for _, name := range resultstest.GoldenResults {
		earlier, err := results.DecodeResult(resultstest.Golden(t, "earlier/"+name))
		require.NoError(t, err, name)
		now, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err, name)
		require.Equal(t, 2, earlier.Schema)
		require.Equal(t, now.Unit(), earlier.Unit(), name)
		require.Equal(t, now.Data.Enough, earlier.Data.Enough, name)
		require.Equal(t, now.Data.LabelWords, earlier.Data.LabelWords, name)
		require.Equal(t, now.Model.GainsByBase, earlier.Model.GainsByBase, name)
		require.Equal(t, now.HasCurves(), earlier.HasCurves(), name)
		first, _, _ := now.FirstScore(now.Metrics.Test)
		same, _, _ := earlier.FirstScore(earlier.Metrics.Test)
		require.Equal(t, first, same, name)
		for metric := range now.Metrics.Test {
			a, b := now.Named(metric), earlier.Named(metric)
			require.Equal(t, []any{a.Words(), a.Direction, a.Unit, a.Judges}, []any{b.Words(), b.Direction, b.Unit, b.Judges}, metric)
		}
		for i, b := range now.Metrics.Baselines {
			require.Equal(t, b.Role, earlier.Metrics.Baselines[i].Role, name)
		}
	}
}

func TestGoldenEventsAreUnderstood(t *testing.T) {
	t.Parallel()
	lines := bytes.Split(bytes.TrimSpace(resultstest.Golden(t, results.EventsFile)), []byte("\n"))
	require.NotEmpty(t, lines)
	kinds := map[results.Kind]bool{}
	for _, line := range lines {
		e, err := results.DecodeEvent(line)
		require.NoError(t, err, string(line))
		kinds[e.Kind] = true
		var want map[string]any
		require.NoError(t, json.Unmarshal(line, &want))
		delete(want, "time") // the same instant may be written with fewer digits
		doc, err := json.Marshal(e)
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal(doc, &got))
		for key, value := range want {
			if value == nil || value == 0.0 || value == "" {
				continue // left out where it says nothing
			}
			require.Equal(t, value, got[key], "%s of %s", key, line)
		}
	}
	for _, kind := range []results.Kind{results.KindPhase, results.KindDecision, results.KindProgress, results.KindEval, results.KindBest, results.KindWarning, results.KindCheckpoint, results.KindResume, results.KindResource, results.KindDone, results.KindTrial, results.KindStarted, results.KindScalar, results.KindSnapshot, results.KindFinding, results.KindMetrics} {
		require.True(t, kinds[kind], kind)
	}
}

// requireSameJSON checks that nothing of the contract is lost on the way through our types. Empty fields may be left out.
func requireSameJSON(tb testing.TB, want []byte, v any) {
	tb.Helper()
	got, err := json.Marshal(v)
	require.NoError(tb, err)
	require.JSONEq(tb, string(want), string(got))
}
