package chart

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// requireInside checks that each mark of a chart lies within its axes, and each axis within the picture.
func requireInside(t *testing.T, c *Chart) SVG {
	t.Helper()
	ch := c.SVG()
	require.NotEmpty(t, ch.Title)
	require.NotEmpty(t, ch.Summary)
	require.Less(t, ch.Left, ch.Right)
	require.Less(t, ch.Top, ch.Bottom)
	require.GreaterOrEqual(t, ch.Left, 0.0)
	require.LessOrEqual(t, ch.Right, float64(ch.Width))
	require.LessOrEqual(t, ch.Bottom, float64(ch.Height))
	at := func(x, y float64) {
		require.False(t, math.IsNaN(x) || math.IsNaN(y), ch.Title)
		require.True(t, x >= ch.Left-0.1 && x <= ch.Right+0.6, "%s: x %g of %g to %g", ch.Title, x, ch.Left, ch.Right)
		require.True(t, y >= ch.Top-0.1 && y <= ch.Bottom+0.1, "%s: y %g of %g to %g", ch.Title, y, ch.Top, ch.Bottom)
	}
	for _, tick := range ch.XTicks {
		at(tick.At, ch.Bottom)
	}
	for _, tick := range ch.YTicks {
		at(ch.Left, tick.At)
	}
	for _, line := range ch.Lines {
		for point := range strings.FieldsSeq(line.Points) {
			x, y, found := strings.Cut(point, ",")
			require.True(t, found, point)
			at(number(t, x), number(t, y))
		}
		for _, dot := range line.Dots {
			at(dot.X, dot.Y)
		}
	}
	for _, dot := range ch.Dots {
		at(dot.X, dot.Y)
	}
	for _, bar := range ch.Bars {
		at(bar.X, bar.Y)
		at(bar.X+bar.Width, bar.Y+bar.Height)
	}
	for _, rule := range ch.Rules {
		at(rule.At, ch.Top)
	}
	return ch
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return v
}

func TestAHistogramHasABarForEachCount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		histogram results.Histogram
		titles    []string
		summary   string
		cut       string
	}{
		"one bar": {results.Histogram{Edges: []float64{0, 10}, Counts: []int{7}}, []string{"0 to 10: 7"}, "7 values from 0 to 10.", ""},
		"a cut": {
			results.Histogram{Edges: []float64{0, 10, 20}, Counts: []int{7, 1200}, Unit: "tokens", Cut: 15},
			[]string{"0 to 10: 7", "10 to 20: 1,200"},
			"1,207 values from 0 to 20. Truncated at 15.", "truncated at 15",
		},
		"a cut at the end":        {results.Histogram{Edges: []float64{0, 10}, Counts: []int{1}, Cut: 10}, []string{"0 to 10: 1"}, "1 value from 0 to 10.", ""},
		"a cut beyond the end":    {results.Histogram{Edges: []float64{0, 10}, Counts: []int{1}, Cut: 99}, []string{"0 to 10: 1"}, "1 value from 0 to 10.", ""},
		"no rows at all":          {results.Histogram{Edges: []float64{0, 1, 2}, Counts: []int{0, 0}}, []string{"0 to 1: 0", "1 to 2: 0"}, "0 values from 0 to 2.", ""},
		"all values the same":     {results.Histogram{Edges: []float64{5, 5}, Counts: []int{3}}, []string{"5 to 5: 3"}, "3 values from 5 to 5.", ""},
		"negative values":         {results.Histogram{Edges: []float64{-4, -2, 0}, Counts: []int{1, 2}}, []string{"-4 to -2: 1", "-2 to 0: 2"}, "3 values from -4 to 0.", ""},
		"huge values, all equal":  {results.Histogram{Edges: []float64{1e300, 1e300}, Counts: []int{1}}, []string{"1e+300 to 1e+300: 1"}, "1 value from 1e+300 to 1e+300.", ""},
		"from one end to another": {results.Histogram{Edges: []float64{-1e300, 1e300}, Counts: []int{1}}, []string{"-1e+300 to 1e+300: 1"}, "1 value from -1e+300 to 1e+300.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := requireInside(t, Histogram("A title", &tc.histogram))
			var titles []string
			for _, bar := range ch.Bars {
				titles = append(titles, bar.Title)
				require.Positive(t, bar.Width, "an empty bar is still seen")
				require.GreaterOrEqual(t, bar.Height, 0.0)
			}
			require.Equal(t, tc.titles, titles)
			require.Equal(t, tc.summary, ch.Summary)
			var labels []string
			for _, rule := range ch.Rules {
				labels = append(labels, rule.Label)
			}
			require.Equal(t, tc.cut, strings.Join(labels, " "))
		})
	}
}

func TestAHistogramOfAThousandBarsStaysInsideItsFrame(t *testing.T) {
	t.Parallel()
	h := &results.Histogram{Edges: []float64{0}}
	for i := range 1000 {
		h.Edges, h.Counts = append(h.Edges, float64(i+1)), append(h.Counts, i*1_000_000_000)
	}
	ch := requireInside(t, Histogram("Errors", h))
	require.Len(t, ch.Bars, 1000)
	for i := 1; i < len(ch.Bars); i++ {
		require.GreaterOrEqual(t, ch.Bars[i].Height, ch.Bars[i-1].Height, "a larger count is a higher bar")
	}
}

func TestTheUnitOfAHistogramIsMadePlain(t *testing.T) {
	t.Parallel()
	ch := Histogram("Length", &results.Histogram{Edges: []float64{0, 1}, Counts: []int{1}, Unit: "a\nunit\u202e" + strings.Repeat("x", 5000)})
	require.True(t, strings.HasPrefix(ch.XLabel, "a unitx"), ch.XLabel)
	require.LessOrEqual(t, len(ch.XLabel), results.MaxText+3)
}

func TestChartsOfAResultHaveTheRightMarks(t *testing.T) {
	t.Parallel()
	bin := func(confidence, accuracy float64, n int) results.CalibrationBin {
		return results.CalibrationBin{Confidence: confidence, Accuracy: accuracy, N: n}
	}
	for name, tc := range map[string]struct {
		chart   *Chart
		title   string
		classes string
		dots    int
		points  int
	}{
		"a ROC curve":              {ROC(&results.Binary{ROC: [][]float64{{0, 0}, {0.1, 0.8}, {1, 1}}}, ", area 0.9"), "ROC curve, area 0.9", "chance train", 0, 5},
		"a ROC curve of nothing":   {ROC(&results.Binary{}, ""), "ROC curve", "chance", 0, 2},
		"a precision-recall curve": {PrecisionRecall(&results.Binary{PR: [][]float64{{0, 1}, {1, 0.5}}}), "Precision-recall curve", "train", 0, 2},
		"a calibration": {
			Calibration(&results.Calibration{Bins: []results.CalibrationBin{bin(0.1, 0.2, 3), bin(0, 0, 0), bin(0.9, 0.8, 7)}}),
			"Calibration", "chance train", 2, 4,
		},
		"one bin":                 {Calibration(&results.Calibration{Bins: []results.CalibrationBin{bin(1, 1, 1)}}), "Calibration", "chance train", 1, 3},
		"predictions":             {Predicted(&results.Regression{Points: [][]float64{{1, 2}, {3, 4}, {5, 5}}}), "Predicted and true values", "chance", 3, 2},
		"one prediction":          {Predicted(&results.Regression{Points: [][]float64{{0, 0}}}), "Predicted and true values", "chance", 1, 2},
		"predictions far apart":   {Predicted(&results.Regression{Points: [][]float64{{-1e300, 1e300}}}), "Predicted and true values", "chance", 1, 2},
		"very many predictions":   {Predicted(&results.Regression{Points: manyPairs(10_000)}), "Predicted and true values", "chance", 10_000, 2},
		"a learning rate":         {Rate(Curves{Rate: []Point{{0.5, 1e-4}, {1, 0}}, Epochs: 1}), "Learning rate", "train", 0, 2},
		"a metric":                {Metric(Curves{MetricName: "accuracy", Metric: []Point{{1, 0.5}}, Epochs: 1}), "Validation accuracy (higher is better)", "valid", 1, 1},
		"an error":                {Metric(Curves{MetricName: "rmse", Metric: []Point{{1, 7}, {2, 5}}, Epochs: 2}), "Validation RMSE (lower is better)", "valid", 2, 2},
		"a metric of strangers":   {Metric(Curves{MetricName: "<b>\n", Metric: []Point{{1, 7}}, Epochs: 1}), "Validation <b> (higher is better)", "valid", 1, 1},
		"a loss at each step":     {Loss(Curves{Steps: []Point{{0.5, 3}, {1, 2}}, Epochs: 1}), "Loss (lower is better)", "train", 0, 2},
		"a loss of one epoch":     {Loss(Curves{TrainLoss: []Point{{1, 3}}, ValidationLoss: []Point{{1, 2}}, Epochs: 1}), "Loss (lower is better)", "train valid", 2, 2},
		"a loss of a part of one": {Loss(Curves{ValidationLoss: []Point{{0.25, 3}}, Epochs: 0.25}), "Loss (lower is better)", "valid", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := requireInside(t, tc.chart)
			require.Equal(t, tc.title, ch.Title)
			var classes []string
			dots, points := len(ch.Dots), 0
			for _, line := range ch.Lines {
				classes = append(classes, line.Class)
				dots += len(line.Dots)
				points += len(strings.Fields(line.Points))
			}
			require.Equal(t, tc.classes, strings.Join(classes, " "))
			require.Equal(t, tc.dots, dots)
			require.Equal(t, tc.points, points)
		})
	}
}

func manyPairs(n int) [][]float64 {
	pairs := make([][]float64, n)
	for i := range pairs {
		pairs[i] = []float64{float64(i), math.Sin(float64(i))}
	}
	return pairs
}

func TestASummarySaysWhereEachLineBeginsAndEnds(t *testing.T) {
	t.Parallel()
	train, valid := []Point{{1, 2}, {2, 1}}, []Point{{1, 3}, {2, 2.5}}
	for want, c := range map[string]Curves{
		"Training loss from 2 to 1. Validation loss from 3 to 2.5.": {TrainLoss: train, ValidationLoss: valid},
		"Training loss from 2 to 1.":                                {TrainLoss: train, Steps: valid},
		"Training loss from 3 to 2.5.":                              {Steps: valid},
		"Validation loss from 3 to 2.5.":                            {ValidationLoss: valid},
	} {
		require.Equal(t, want, Loss(c).Summary)
	}
	require.Equal(t, "Validation accuracy from 2 to 1.", Metric(Curves{MetricName: "accuracy", Metric: train}).Summary)
	require.Equal(t, "Learning rate from 2 to 1.", Rate(Curves{Rate: train}).Summary)
}

func TestTheLegendNamesLinesBesideEachOther(t *testing.T) {
	t.Parallel()
	ch := Loss(Curves{Steps: []Point{{0.5, 3}}, TrainLoss: []Point{{1, 2}}, ValidationLoss: []Point{{1, 1}}, Epochs: 1}).SVG()
	require.Equal(t, []string{"", "training", "validation"}, []string{ch.Lines[0].Name, ch.Lines[1].Name, ch.Lines[2].Name})
	require.GreaterOrEqual(t, ch.Lines[2].Legend, ch.Lines[1].Legend+80, "the second name begins behind the first")
	require.Less(t, ch.Lines[2].Legend+100, float64(ch.Width))
}

func TestALineOfManyPointsHasNoDots(t *testing.T) {
	t.Parallel()
	for n, dots := range map[int]int{1: 1, fewDots: fewDots, fewDots + 1: 0, 1000: 0} {
		var line []Point
		for i := range n {
			line = append(line, Point{float64(i + 1), 1})
		}
		ch := Loss(Curves{TrainLoss: line, Epochs: float64(n)}).SVG()
		require.Len(t, ch.Lines[0].Dots, dots, "%d points", n)
		require.Len(t, strings.Fields(ch.Lines[0].Points), n, "the line has all of them")
	}
}

func TestTheLabelOfAMarkStandsWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		best   float64
		anchor string
	}{"at the left edge": {0.5, "start"}, "in the middle": {5, "end"}, "at the right edge": {10, "end"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := Loss(Curves{TrainLoss: []Point{{1, 2}, {10, 1}}, Best: tc.best, Epochs: 10}).SVG()
			require.Len(t, ch.Rules, 1)
			rule := ch.Rules[0]
			require.Equal(t, []string{"best", "best", tc.anchor}, []string{rule.Label, rule.Class, rule.Anchor})
			width := letterWidth * float64(len(rule.Label))
			if tc.anchor == "end" {
				require.GreaterOrEqual(t, rule.X-width, 0.0)
			} else {
				require.LessOrEqual(t, rule.X+width, float64(ch.Width))
			}
		})
	}
}

func TestTheLabelsOfTwoMarksStandInTwoRows(t *testing.T) {
	t.Parallel()
	c := Curves{TrainLoss: []Point{{1, 2}, {2, 1}}, MetricName: "accuracy", Metric: []Point{{1, 0.1}, {2, 0.2}}, Best: 1.5, Resumes: []float64{1.5}, Epochs: 2}
	for _, ch := range []SVG{Loss(c).SVG(), Metric(c).SVG()} {
		require.Len(t, ch.Rules, 2)
		require.GreaterOrEqual(t, math.Abs(ch.Rules[0].Y-ch.Rules[1].Y), 15.0, ch.Title)
	}
}
