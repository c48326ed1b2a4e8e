package report

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// toy has what the trainer wrote for a kind of data that only the tests of the trainer know: trainer/tests/toy.
const toy = "../../../trainer/tests/toy/golden/"

func TestReportsOfAKindThatTheServiceDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"result.json":     {"signal-direction", "Clearly better than", "Mean turn", "always predicting the mean direction", "north, east, south and west", "powers", "Mean turn by direction", "point of the compass", "the readings of four sensors", "a direction in degrees, clockwise from north", "0.938 -0.459 -0.815 0.444"},
		"prediction.json": {"Prediction report", "signals/1", "on 6 labelled rows", "Mean turn", "new.toy, row 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := renderResult(t, unknown(t, name))
			for _, text := range want {
				require.Contains(t, page, text)
			}
			require.NotContains(t, page, "run this next to the folder", "the service has no lines of Python for it")
			require.NotContains(t, page, "NaN")
			require.NotContains(t, page, "ZgotmplZ", "a value that html/template refused")
			requireSelfContained(t, page)
		})
	}
}

func TestTheModelCardOfAKindThatTheServiceDoesNotKnow(t *testing.T) {
	t.Parallel()
	r := unknown(t, "result.json")
	var card bytes.Buffer
	require.NoError(t, WriteCard(&card, resultstest.LikelyMeta(r), r))
	require.NotContains(t, card.String(), "```python", "the service has no lines of Python for it")
	for _, text := range []string{"A model for signal-direction", "178 parameters", "| test | Mean turn |", "| test, mean direction | Mean turn |", "Label: direction.", "Input: the readings of four sensors. Output: a direction in degrees"} {
		require.Contains(t, card.String(), text)
	}
}

func unknown(t *testing.T, name string) *results.Result {
	t.Helper()
	doc, err := os.ReadFile(toy + name)
	require.NoError(t, err)
	r, err := results.DecodeResult(doc)
	require.NoError(t, err)
	return r
}
