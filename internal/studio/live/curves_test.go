package live

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func fold(tb testing.TB, events ...string) *curves {
	tb.Helper()
	c := &curves{}
	for _, text := range events {
		e, err := results.DecodeEvent([]byte(text))
		require.NoError(tb, err, text)
		c.add(e)
	}
	return c
}

func scalar(name string, step int, value float64) string {
	return fmt.Sprintf(`{"time":"2026-11-21T05:03:52Z","attempt":1,"kind":"scalar","name":%q,"step":%d,"value":%g}`, name, step, value)
}

func TestLinesOfARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []string
		want   []Curve
	}{
		"a training": {
			[]string{progress(1000, 0.9), validation(2500, 0.7), progress(3000, 0.4)},
			[]Curve{
				{"loss", "Loss", "training", "lower", []Point{{0.2, 0.9}, {0.6, 0.4}}},
				{"validation/accuracy", "Validation accuracy", "validation", "higher", []Point{{0.5, 0.7}}},
				{"validation/loss", "Loss", "validation", "lower", []Point{{0.5, 0.5}}},
			},
		},
		"a training that went back to a checkpoint": {
			[]string{progress(1000, 0.9), progress(2000, 0.8), progress(3000, 0.7), progress(2000, 0.75)},
			[]Curve{{"loss", "Loss", "training", "lower", []Point{{0.2, 0.9}, {0.4, 0.75}}}},
		},
		"a script": {
			[]string{scalar("train/loss", 5, 3), scalar("val_loss", 5, 4), scalar("lr", 5, 0.1), scalar("<img src=x>", 1, 2)},
			[]Curve{
				{"train/loss", "loss", "train/loss", "lower", []Point{{5, 3}}},
				{"val_loss", "loss", "val_loss", "lower", []Point{{5, 4}}},
				{"lr", "lr", "lr", "", []Point{{5, 0.1}}},
				{"<img src=x>", "<img src=x>", "<img src=x>", "", []Point{{1, 2}}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []Curve
			for _, line := range fold(t, c.events...).lines {
				got = append(got, *line)
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}

func TestAScriptWithVeryManyNumbersKeepsSome(t *testing.T) {
	t.Parallel()
	c := &curves{}
	for i := range 2 * maxLines {
		for step := range maxKept + 100 {
			c.add(results.Event{Kind: results.KindScalar, Name: fmt.Sprint("n", i), Step: step, Value: 1})
		}
	}
	require.Len(t, c.lines, maxLines)
	points := 0
	for _, line := range c.sample(snapshotPoints) {
		points += len(line.Points)
	}
	require.LessOrEqual(t, points, max(snapshotPoints, maxLines*fewestPoints))
	require.LessOrEqual(t, len(c.lines[0].Points), maxKept)
}

func TestThinnedLinesKeepTheirPeaks(t *testing.T) {
	t.Parallel()
	var line []Point
	for i := range 10_000 {
		line = append(line, Point{float64(i), math.Sin(float64(i) / 500)})
	}
	line[4321].Y, line[8765].Y = 9, -9
	thinned := thin(line, 200)
	require.LessOrEqual(t, len(thinned), 200)
	require.GreaterOrEqual(t, len(thinned), 150)
	require.Contains(t, thinned, Point{4321, 9})
	require.Contains(t, thinned, Point{8765, -9})
	require.Equal(t, line[0], thinned[0])
	require.Equal(t, line[9999], thinned[len(thinned)-1])
	for i := 1; i < len(thinned); i++ {
		require.Less(t, thinned[i-1].X, thinned[i].X)
	}
	require.Equal(t, line[:100], thin(line[:100], 200))
}

func FuzzEventsDrawFiniteLines(f *testing.F) {
	for _, text := range []string{progress(1, 0.5), validation(2, 0.4), scalar("a/b", 3, 1)} {
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		c := &curves{}
		for _, text := range [][]byte{a, b, a} {
			if e, err := results.DecodeEvent(text); err == nil {
				_ = eventFrame(results.LoggedEvent{Event: e, End: 1}, c.add(e))
			}
		}
		for _, line := range c.sample(snapshotPoints) {
			for i, p := range line.Points {
				require.False(t, math.IsNaN(p.X) || math.IsInf(p.X, 0) || math.IsNaN(p.Y) || math.IsInf(p.Y, 0))
				require.True(t, i == 0 || line.Points[i-1].X < p.X)
			}
		}
	})
}
