package runs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// scored is a training with these scores on the test rows.
func scored(metric string, test results.Scores) compared {
	return compared{result: &results.Result{Kind: results.ResultTraining, Metric: metric, Metrics: results.Metrics{Test: test}}}
}

// score is a value with an interval of this width on each side; 0 for none.
func score(value, width float64) results.Score {
	s := results.Score{Value: value, N: 100}
	if width > 0 {
		low, high := value-width, value+width
		s.Low, s.High = &low, &high
	}
	return s
}

func TestADifferenceIsJudgedByTheDirectionOfItsMetric(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		metric            string
		first, other      results.Score
		change, judgement string
		overlap           bool
	}{
		{"accuracy", score(0.5, 0.1), score(0.75, 0.1), "+0.250", judgedBetter, false},
		{"accuracy", score(0.75, 0.2), score(0.5, 0.1), "−0.250", judgedWorse, true},
		{"accuracy", score(0.5, 0.125), score(0.75, 0.125), "+0.250", judgedBetter, true},
		{"accuracy", score(0.5, 0), score(0.75, 0.5), "+0.250", judgedBetter, false},
		{"accuracy", score(0.5, 0.1), score(0.5, 0.1), "±0", judgedEqual, false},
		{"rmse", score(12, 0), score(10, 0), "−2.000", judgedBetter, false},
		{"rmse", score(10, 0), score(1510, 0), "+1,500", judgedWorse, false},
		{"r2", score(-0.5, 0), score(0.25, 0), "+0.750", judgedBetter, false},
	} {
		list := []compared{scored(c.metric, results.Scores{c.metric: c.first}), scored(c.metric, results.Scores{c.metric: c.other})}
		cells := compareMetrics(list, true)[0].Cells
		require.Nil(t, cells[0].Difference, "the first is compared with nothing")
		require.Empty(t, cells[0].Judgement+cells[0].Change)
		require.InDelta(t, c.other.Value-c.first.Value, *cells[1].Difference, 1e-12, "%+v", c)
		require.Equal(t, []any{c.change, c.judgement, c.overlap}, []any{cells[1].Change, cells[1].Judgement, cells[1].Overlap}, "%+v", c)

		cells = compareMetrics(list, false)[0].Cells
		require.Equal(t, c.change, cells[1].Change)
		require.Empty(t, cells[1].Judgement, "scores of other rows are not judged")
		require.False(t, cells[1].Overlap)
	}
}

func TestTheMetricThatAPersonAsksForComesFirst(t *testing.T) {
	t.Parallel()
	classes := scored("f1_macro", results.Scores{"accuracy": score(0.5, 0), "f1_macro": score(0.4, 0), "loss": score(1, 0)})
	numbers := scored("rmse", results.Scores{"rmse": score(3, 0), "mae": score(2, 0)})
	var order []string
	for _, d := range compareMetrics([]compared{{}, numbers, classes}, false) {
		order = append(order, d.Metric)
		require.Len(t, d.Cells, 3)
		require.Equal(t, results.Named(d.Metric).LowerIsBetter(), d.LowerIsBetter)
	}
	first := []string{figureOf(numbers.result).Metric, figureOf(classes.result).Metric}
	require.Equal(t, first, order[:2])
	require.ElementsMatch(t, []string{"accuracy", "f1_macro", "loss", "mae", "rmse"}, order, "each once")
	require.IsIncreasing(t, order[2:])
}

func TestARunWithoutAScoreHasAnEmptyCell(t *testing.T) {
	t.Parallel()
	with := scored("accuracy", results.Scores{"accuracy": score(0.5, 0)})
	for name, list := range map[string][]compared{
		"first":  {{}, with, with},
		"second": {with, {}, with},
		"other":  {scored("rmse", results.Scores{"rmse": score(1, 0)}), with},
	} {
		for _, d := range compareMetrics(list, true) {
			for i, cell := range d.Cells {
				require.Equal(t, i > 0 && cell.Figure != nil && d.Cells[0].Figure != nil, cell.Difference != nil, name)
			}
		}
	}
	require.Empty(t, compareMetrics([]compared{{}, {}}, true))
	validation := compared{result: &results.Result{Kind: results.ResultTraining, Metric: "accuracy", Metrics: results.Metrics{Validation: results.Scores{"accuracy": score(0.5, 0)}}}}
	require.Empty(t, compareMetrics([]compared{validation, validation}, true), "scores on validation rows are no test scores")
}
