package results

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// golden holds the files that both languages are tested against.
const golden = "../../trainer/schema/golden"

func TestGoldenFilesAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, name := range []string{ResultFile, "result-regression.json", "result-image.json", "result-prediction.json", "result-check.json"} {
		result, err := DecodeResult(readGolden(t, name))
		require.NoError(t, err, name)
		requireSameJSON(t, readGolden(t, name), result)
	}
	failure, err := DecodeFailure(readGolden(t, FailureFile))
	require.NoError(t, err)
	requireSameJSON(t, readGolden(t, FailureFile), failure)

	var metrics Metrics
	require.NoError(t, json.Unmarshal(readGolden(t, "metrics.json"), &metrics))
	requireSameJSON(t, readGolden(t, "metrics.json"), metrics)
}

func TestGoldenEventsAreUnderstood(t *testing.T) {
	t.Parallel()
	lines := bytes.Split(bytes.TrimSpace(readGolden(t, EventsFile)), []byte("\n"))
	require.NotEmpty(t, lines)
	kinds := map[Kind]bool{}
	for _, line := range lines {
		e, err := DecodeEvent(line)
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
	for _, kind := range []Kind{KindPhase, KindDecision, KindProgress, KindEval, KindBest, KindWarning, KindCheckpoint, KindResume, KindResource, KindDone} {
		require.True(t, kinds[kind], kind)
	}
}

func readGolden(tb testing.TB, name string) []byte {
	tb.Helper()
	doc, err := os.ReadFile(filepath.Join(golden, name))
	require.NoError(tb, err)
	return doc
}

// requireSameJSON checks that nothing of the contract is lost on the way through our types. Empty fields may be left out.
func requireSameJSON(tb testing.TB, want []byte, v any) {
	tb.Helper()
	got, err := json.Marshal(v)
	require.NoError(tb, err)
	require.JSONEq(tb, string(want), string(got))
}
