package chart

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestPlotsOfStrangeTrainings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Curves{
		"one point":          {ValidationLoss: []Point{{1, 0.5}}, Epochs: 1, Best: 1},
		"all the same":       {Steps: []Point{{0.1, 2}, {0.2, 2}, {1, 2}}, Epochs: 1},
		"zero":               {Steps: []Point{{0, 0}, {1, 0}}, Epochs: 1},
		"huge":               {Steps: []Point{{0, 1e300}, {1, -1e300}}, Epochs: 1},
		"tiny":               {Steps: []Point{{0, 1e-300}, {1, 2e-300}}, Epochs: 1},
		"many epochs":        {Steps: []Point{{0, 3}, {10_000, 1}}, Epochs: 10_000, Best: 9_000},
		"best after the end": {Steps: []Point{{0, 3}, {1, 1}}, Epochs: 1, Best: 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := Loss(c)
			require.NotNil(t, ch)
			require.NoError(t, WritePNG(io.Discard, ch))
			require.NoError(t, WriteVega(io.Discard, ch))
			requireInside(t, ch)
			require.LessOrEqual(t, len(ch.X.Ticks), 20)
			require.LessOrEqual(t, len(ch.Y.Ticks), 20)
		})
	}
}

func TestCurvesWhereATrainingWentBackInTime(t *testing.T) {
	t.Parallel()
	loss := func(attempt int, fraction, loss float64) results.Event {
		return results.Event{Attempt: attempt, Kind: results.KindProgress, Epochs: 2, Steps: 100, Fraction: fraction, Loss: &loss}
	}
	r := &results.Result{Attempt: 2, Metric: "accuracy"}
	c := NewCurves([]results.Event{loss(1, 0.25, 3), loss(1, 0.5, 2.5), loss(1, 0.75, 2), loss(2, 0.5, 1), loss(2, 1, 0.5), loss(3, 0.1, 9)}, r)
	require.Equal(t, []Point{{0.5, 3}, {1, 1}, {2, 0.5}}, c.Steps)
}
