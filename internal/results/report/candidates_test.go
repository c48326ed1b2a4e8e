package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// goldenTraining is the training of the contract's golden file.
func goldenTraining(t *testing.T) *results.Result {
	t.Helper()
	r, err := results.DecodeResult(resultstest.Golden(t, results.ResultFile))
	require.NoError(t, err)
	return r
}

// candidate is a candidate that was trained, with its validation loss.
func candidate(name string, loss float64, chosen bool) results.Candidate {
	return results.Candidate{
		Name: name, Title: name, Sort: results.SortEstimator, Parameters: 1200, Seconds: 2, Chosen: chosen, Why: "A reason.",
		Validation: map[string]float64{"loss": loss, "accuracy": 1 - loss},
		Test:       results.Scores{"accuracy": {Value: 0.5, N: 10}},
	}
}

func TestTheModelsThatWereCompared(t *testing.T) {
	t.Parallel()
	left := results.Candidate{Name: "large", Title: "a large one", Why: "It would take 9 h."}
	for name, tc := range map[string]struct {
		candidates []results.Candidate
		sentence   string
		models     []string
		delivered  int
		left       []pair
	}{
		"the smallest loss first": {
			[]results.Candidate{candidate("b", 0.3, false), candidate("a", 0.2, true)},
			"2 models were trained on the same rows. A is delivered. A reason. The test rows had no part in this choice.",
			[]string{"a", "b"},
			0, nil,
		},
		"a delivered model that is not the first": {
			[]results.Candidate{candidate("b", 0.3, true), candidate("a", 0.2, false)},
			"2 models were trained on the same rows. B is delivered. A reason. The test rows had no part in this choice.",
			[]string{"a", "b"},
			1, nil,
		},
		"one that was not trained": {
			[]results.Candidate{candidate("a", 0.2, true), left},
			"Only one model was trained: a.",
			[]string{"a"},
			0,
			[]pair{{"a large one", "It would take 9 h."}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := goldenTraining(t)
			r.Candidates = tc.candidates
			part := newCandidatesPart(r)
			require.Equal(t, tc.sentence, part.Sentence)
			require.Equal(t, tc.delivered, part.Delivered)
			require.Equal(t, tc.left, part.Left)
			require.Equal(t, []string{"Model", "Validation loss", "Validation accuracy", "Test accuracy", "Time", "Parameters"}, part.Table.Heads)
			var models []string
			for _, row := range part.Table.Rows {
				models = append(models, row[0])
				require.Equal(t, []string{"0.500", "2 s", "1,200"}, row[3:])
			}
			require.Equal(t, tc.models, models)
		})
	}
	r := goldenTraining(t)
	for _, candidates := range [][]results.Candidate{nil, {candidate("a", 0.2, true)}} {
		r.Candidates = candidates
		require.Nil(t, newCandidatesPart(r), "there is nothing to compare")
	}
}

func TestTheReportOfAnEstimatorSaysNothingOfEpochs(t *testing.T) {
	t.Parallel()
	r := goldenTraining(t)
	r.Candidates = []results.Candidate{candidate("words", 0.2, true), candidate("linear", 0.3, false)}
	r.Model.Base = "words"
	var out strings.Builder
	require.NoError(t, Write(&out, nil, r, resultstest.LikelyMeta(r)))
	for _, word := range []string{"Training curves", "epochs,", "1 worker", "random weights", "Checkpoints", "rows per second"} {
		require.NotContains(t, out.String(), word)
	}
	require.Contains(t, out.String(), "words, fitted to this data alone")
	require.Contains(t, out.String(), "words (delivered)")
}
