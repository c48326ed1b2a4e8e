package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func trial(number int, loss float64, settings map[string]any) results.Trial {
	return results.Trial{Number: number, Settings: settings, Default: number == 0, Loss: &loss}
}

func TestTrialsInParallelCoordinates(t *testing.T) {
	t.Parallel()
	best := 2
	s := &results.Search{
		Best: &best, Repeat: map[string]any{"learning_rate": 0.001, "scheduler": "linear"},
		Trials: []results.Trial{
			trial(0, 0.4, nil),
			trial(1, 0.8, map[string]any{"learning_rate": 0.0001, "scheduler": "linear"}),
			trial(2, 0.3, map[string]any{"learning_rate": 0.01, "scheduler": "cosine"}),
			{Number: 3, Settings: map[string]any{"learning_rate": 0.5, "scheduler": "cosine"}},
		},
	}
	p := Trials(s)
	require.Len(t, p.Axes, 3)
	require.Equal(t, "learning_rate", p.Axes[0].Name)
	require.Equal(t, []string{"0.0001", "0.01"}, []string{p.Axes[0].Low, p.Axes[0].High}, "a trial without a loss is not drawn")
	require.InDelta(t, 0.5, p.Axes[0].values[0], 1e-9, "rates are drawn by their orders of magnitude")
	require.Equal(t, []string{"cosine", "linear"}, []string{p.Axes[1].Low, p.Axes[1].High})
	require.Equal(t, "loss", p.Axes[2].Name)
	require.Equal(t, []string{"steps", "valid", "train"}, []string{p.Lines[0].Class, p.Lines[1].Class, p.Lines[2].Class}, "the delivered trial is drawn last")
	for _, l := range p.Lines {
		require.Len(t, strings.Fields(l.Points), 3)
	}
}

func TestNoCoordinatesWithoutTwoTrials(t *testing.T) {
	t.Parallel()
	for name, trials := range map[string][]results.Trial{
		"no trial":             nil,
		"only the default":     {trial(0, 0.4, nil)},
		"nothing was searched": {trial(0, 0.4, nil), trial(1, 0.3, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Nil(t, Trials(&results.Search{Trials: trials}))
		})
	}
}

func TestEqualValuesAreInTheMiddleOfTheirAxis(t *testing.T) {
	t.Parallel()
	same := map[string]any{"batch_size": 32.0}
	p := Trials(&results.Search{Trials: []results.Trial{trial(0, 0.4, same), trial(1, 0.4, same)}})
	require.InDelta(t, 0.5, p.Axes[0].values[1], 1e-9)
	require.InDelta(t, 0.5, p.Axes[1].values[1], 1e-9)
}
