package deliver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestAModelOfAKindThatTheServiceDoesNotKnowIsRegisteredAndJudgedByItsOwnMetric(t *testing.T) {
	t.Parallel()
	r, err := results.DecodeResult(resultstest.Golden(t, "../../tests/toy/golden/result.json")) // written by trainer/tests/toy
	require.NoError(t, err)
	v := newVersion(job.New(r.Run, job.Train, job.Request{Name: "Signals"}, ""), r)
	require.Equal(t, []string{"toy", "signal-direction", "toy-net", "turn"}, []string{v.Kind, v.Task, v.Base, v.Metric})
	require.InDelta(t, r.Metrics.Test["turn"].Value, v.Test.Value, 1e-9)

	reigning := &registry.Version{Name: "signals", Version: 1, Run: "ft-one", Created: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	for turn, wins := range map[float64]bool{v.Test.Value + 1: true, v.Test.Value - 1: false} {
		r.Champion = &results.Champion{Run: "ft-one", Comparable: true, Test: results.Scores{"turn": {Value: turn, N: 20}}}
		won, why := judge(r, reigning.Created.Add(time.Hour), reigning)
		require.Equal(t, wins, won, "a smaller turn is better: %s", why)
		require.Contains(t, why, "mean turn")
	}
}
