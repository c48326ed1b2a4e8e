package chart

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// drawn is what a reader sees of the lines of a chart: their names, their classes and how many points they have.
func drawn(t *testing.T, c *Chart) (names, classes []string, points []int) {
	t.Helper()
	for _, line := range requireInside(t, c).Lines {
		names, classes = append(names, line.Name), append(classes, line.Class)
		points = append(points, len(strings.Fields(line.Points)))
	}
	return names, classes, points
}

// many is a line of n points that rises.
func many(n int) []Point {
	line := make([]Point, n)
	for i := range line {
		line[i] = Point{float64(i), float64(i)}
	}
	return line
}

func TestCurvesOfSeveralRunsLieOverEachOther(t *testing.T) {
	t.Parallel()
	c := Overlay("Validation loss", "loss", []RunLine{
		{Name: "first", Colour: 0, Points: []Point{{1, 0.9}, {2, 0.5}}},
		{Name: "not evaluated yet", Colour: 1},
		{Name: "longer", Colour: 11, Points: []Point{{1, 0.8}, {2, 0.6}, {3, 0.4}}},
		{Name: "a colour again", Colour: 12, Points: []Point{{0.5, 1}}},
	})
	names, classes, points := drawn(t, c)
	require.Equal(t, []string{"first", "longer", "a colour again"}, names, "a run without points is not in the legend")
	require.Equal(t, []string{"run-0", "run-11", "run-0"}, classes, "there are rules for twelve colours")
	require.Equal(t, []int{2, 3, 1}, points)
	require.Equal(t, "first from 0.9 to 0.5. longer from 0.8 to 0.4. a colour again from 1 to 1.", c.Summary)
	require.InDelta(t, 3, c.X.High, 0, "the axis reaches to the end of the longest run")
	require.Equal(t, []float64{0, 1, 2, 3}, c.X.Ticks)
}

func TestTheAxesOfSeveralRunsAreNeverEmpty(t *testing.T) {
	t.Parallel()
	for name, points := range map[string][]Point{
		"one point at the beginning":   {{0, 0}},
		"a part of an epoch":           {{0.1, 3}, {0.2, 2}},
		"values that are all the same": {{1, 0.5}, {2, 0.5}},
		"values beyond all numbers":    {{1, -1e300}, {2, 1e300}},
		"a run of many epochs":         {{1, 1}, {1_000_000, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Overlay("Loss", "loss", []RunLine{{Name: "run", Points: points}})
			_, _, counts := drawn(t, c)
			require.Equal(t, []int{len(points)}, counts)
			require.GreaterOrEqual(t, c.X.High, 1.0, "a training has at least one epoch")
			require.Less(t, c.Y.Low, c.Y.High)
		})
	}
}

func TestALongRunIsThinnedForTheChartOnly(t *testing.T) {
	t.Parallel()
	points := many(5000)
	c := Overlay("Loss", "loss", []RunLine{{Name: "long", Points: points}})
	require.LessOrEqual(t, len(c.Lines[0].Points), maxPoints)
	require.False(t, c.Lines[0].Dotted)
	require.Equal(t, many(5000), points, "the points of the caller stay as they were")

	c = Steps("loss", StepLine{Name: "loss", Points: points})
	require.LessOrEqual(t, len(c.Lines[0].Points), maxPoints)
	require.Equal(t, many(5000), points)
}

func TestRunsWithoutPointsHaveNoChart(t *testing.T) {
	t.Parallel()
	require.Nil(t, Overlay("Loss", "loss", nil))
	require.Nil(t, Overlay("Loss", "loss", []RunLine{{Name: "a"}, {Name: "b", Points: []Point{}}}))
	require.Nil(t, Steps("loss"))
	require.Nil(t, Steps("loss", StepLine{Name: "loss"}, StepLine{Name: "val_loss", Role: RoleValidation}))
}

func TestCurvesOfAScriptAreDrawnByTheirRoles(t *testing.T) {
	t.Parallel()
	train := StepLine{Name: "loss", Role: RoleTrain, Points: []Point{{10, 3}, {500, 1}}}
	valid := StepLine{Name: "val_loss", Role: RoleValidation, Points: []Point{{100, 2.5}, {900, 2}}}
	other := StepLine{Name: "lr", Points: []Point{{7, 0.1}}}
	for name, tc := range map[string]struct {
		lines          []StepLine
		names, classes []string
		from, to       float64
		summary        string
	}{
		"the training alone": {[]StepLine{train}, []string{""}, []string{"train"}, 10, 500, "loss from 3 to 1."},
		"the validation alone": {
			[]StepLine{valid}, []string{""}, []string{"valid"}, 100, 900, "val_loss from 2.5 to 2.",
		},
		"the validation is drawn over the training": {
			[]StepLine{valid, train},
			[]string{"loss", "val_loss"},
			[]string{"train", "valid"},
			10, 900,
			"loss from 3 to 1. val_loss from 2.5 to 2.",
		},
		"a line without points needs no legend": {
			[]StepLine{train, {Name: "val_loss", Role: RoleValidation}}, []string{""}, []string{"train"}, 10, 500, "loss from 3 to 1.",
		},
		"a single value without a role": {[]StepLine{other}, []string{""}, []string{"train"}, 7, 8, "lr from 0.1 to 0.1."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Steps("A quantity", slices.Clone(tc.lines)...)
			names, classes, _ := drawn(t, c)
			require.Equal(t, tc.names, names)
			require.Equal(t, tc.classes, classes)
			require.Equal(t, []float64{tc.from, tc.to}, []float64{c.X.Low, c.X.High})
			require.Equal(t, tc.summary, c.Summary)
		})
	}
}

func TestStepsThatCannotBeCountedStayInsideTheirFrame(t *testing.T) {
	t.Parallel()
	for name, points := range map[string][]Point{
		"a step that has no next one": {{1e300, 1}},
		"steps below zero":            {{-5, 1}, {-1, 2}},
		"from one end to another":     {{-1e300, 1e300}, {1e300, -1e300}},
		"parts of a step":             {{0.001, 1}, {0.002, 1}},
		"small values":                {{1, 1e-300}, {2, 2e-300}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Steps("loss", StepLine{Name: "loss", Points: points})
			_, _, counts := drawn(t, c)
			require.Equal(t, []int{len(points)}, counts)
			require.LessOrEqual(t, len(c.X.Ticks), 9)
			require.NoError(t, WritePNG(new(bytes.Buffer), c))
		})
	}
}

func TestTheFinalistsOfASearchAreCompared(t *testing.T) {
	t.Parallel()
	s := &results.Search{Curves: []results.TrialCurve{
		{Number: 0, Points: [][]float64{{1, 0.9, 0.8}, {2, 0.5, 0.6}}},
		{Number: 7, Points: [][]float64{{1, 0.7, 0.75}, {2, 0.3, 0.5}, {3, 0.2, 0.45}}},
	}}
	c := TrialLoss(s)
	names, classes, points := drawn(t, c)
	require.Equal(t, []string{"default", "trial 7"}, names)
	require.Equal(t, []string{"train", "valid"}, classes)
	require.Equal(t, []int{2, 3}, points)
	require.Equal(t, "Default from 0.8 to 0.6. Trial 7 from 0.75 to 0.45.", c.Summary, "the losses are those of the validation rows")
	require.InDelta(t, 3, c.X.High, 0)

	for name, curves := range map[string][]results.TrialCurve{
		"no curves":                  nil,
		"curves without points":      {{Number: 0}, {Number: 3}},
		"points before the training": {{Number: 0, Points: [][]float64{{0, 1, 1}}}},
	} {
		require.Nil(t, TrialLoss(&results.Search{Curves: curves}), name)
	}
	s.Curves[0].Points = nil
	names, _, _ = drawn(t, TrialLoss(s))
	require.Equal(t, []string{"trial 7"}, names, "a trial that was not followed has no line")
}
