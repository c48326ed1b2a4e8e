package results

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCandidatesMustAgree(t *testing.T) {
	t.Parallel()
	scored := map[string]float64{"loss": 0.4}
	high := 0.1
	for name, tc := range map[string]struct {
		candidates []Candidate
		problem    string
	}{
		"none, as in results of v0.1.0":        {nil, ""},
		"one that is delivered":                {[]Candidate{{Chosen: true, Validation: scored}}, ""},
		"one that was not trained":             {[]Candidate{{Chosen: true, Validation: scored}, {Why: "too slow"}}, ""},
		"nothing delivered":                    {[]Candidate{{Validation: scored}}, "not exactly one of the candidates is delivered"},
		"two delivered":                        {[]Candidate{{Chosen: true, Validation: scored}, {Chosen: true, Validation: scored}}, "not exactly one of the candidates is delivered"},
		"a delivered one without scores":       {[]Candidate{{Chosen: true}}, "the delivered candidate has no validation scores"},
		"an interval of scores is upside down": {[]Candidate{{Chosen: true, Validation: scored, Test: Scores{"accuracy": {Value: 0.5, Low: new(0.9), High: &high}}}}, "the interval of the accuracy of the candidate's test rows is impossible"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := (&Result{Candidates: tc.candidates}).checkCandidates()
			if tc.problem == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.problem)
		})
	}
}

func TestTheDeliveredCandidate(t *testing.T) {
	t.Parallel()
	r := &Result{Candidates: []Candidate{{Name: "a", Sort: SortNetwork}, {Name: "b", Sort: SortEstimator, Chosen: true}}}
	require.Equal(t, "b", r.Delivered().Name)
	require.True(t, r.IsEstimator())
	r.Candidates[1].Sort = SortNetwork
	require.False(t, r.IsEstimator())
	require.Nil(t, (&Result{}).Delivered())
	require.False(t, (&Result{}).IsEstimator())
}
