package chart

import (
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// shareAxis is an axis from 0 to 1.
var shareAxis = axis{0, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}}

// Histogram draws a histogram with a line at its cut; nil where there is none.
func Histogram(title string, h *results.Histogram) *Chart {
	if h == nil || len(h.Counts) == 0 {
		return nil
	}
	most, total := slices.Max(h.Counts), 0
	low, high := h.Edges[0], h.Edges[len(h.Edges)-1]
	if !(high > low) {
		low, high = low-1, low+1
	}
	top := float64(max(1, most)) * 1.06
	ch := newChart(title, results.Plain(h.Unit, ""), axis{low, high, niceTicks(low, high, 6)}, axis{0, top, niceTicks(0, top, 4)})
	ch.YLabel = "rows"
	for i, n := range h.Counts {
		total += n
		left, right, y := ch.atX(h.Edges[i]), ch.atX(h.Edges[i+1]), ch.atY(float64(n))
		ch.Bars = append(ch.Bars, chartBar{
			X: left, Y: y, Width: Tenth(max(0.5, right-left-1)), Height: Tenth(max(0, ch.Bottom-y)),
			Title: fmt.Sprintf("%s to %s: %s", text.Significant(h.Edges[i]), text.Significant(h.Edges[i+1]), text.Number(n)),
		})
	}
	ch.Summary = fmt.Sprintf("%s from %s to %s.", text.Count(total, "value"), text.Significant(h.Edges[0]), text.Significant(h.Edges[len(h.Edges)-1]))
	if h.Cut > max(0, low) && h.Cut < high {
		ch.rule("best", "truncated at "+text.Significant(h.Cut), h.Cut, labelRow{top: true})
		ch.Summary += " Truncated at " + text.Significant(h.Cut) + "."
	}
	return ch
}

// ROC draws the true positive rate by the false positive rate. area is put behind the title.
func ROC(b *results.Binary, area string) *Chart {
	ch := newChart("ROC curve"+area, "false positive rate", shareAxis, shareAxis)
	ch.YLabel = "true positive rate"
	ch.line("", "chance", []Point{{0, 0}, {1, 1}}, false).line("", "train", Pairs(b.ROC), false)
	ch.Summary = "True positive rate by false positive rate; the dashed line is random guessing."
	return ch
}

// PrecisionRecall draws the precision by the recall.
func PrecisionRecall(b *results.Binary) *Chart {
	ch := newChart("Precision-recall curve", "recall", shareAxis, shareAxis)
	ch.YLabel = "precision"
	ch.line("", "train", Pairs(b.PR), false)
	ch.Summary = "Precision by recall."
	return ch
}

// Calibration draws how often the model is right against how sure it is.
func Calibration(c *results.Calibration) *Chart {
	var points []Point
	for _, b := range c.Bins {
		if b.N > 0 {
			points = append(points, Point{b.Confidence, b.Accuracy})
		}
	}
	if len(points) == 0 {
		return nil
	}
	ch := newChart("Calibration", "confidence", shareAxis, shareAxis)
	ch.YLabel = "accuracy"
	ch.line("", "chance", []Point{{0, 0}, {1, 1}}, false).line("", "train", points, true)
	ch.Summary = "Accuracy by confidence; on the dashed line both are equal."
	return ch
}

// Predicted draws predicted against true values.
func Predicted(g *results.Regression) *Chart {
	points := Pairs(g.Points)
	if len(points) == 0 {
		return nil
	}
	low, high := diagonal(points)
	side := axis{low, high, niceTicks(low, high, 5)}
	ch := newChart("Predicted and true values", "true value", side, side)
	ch.YLabel = "predicted value"
	ch.line("", "chance", []Point{{low, low}, {high, high}}, false).scatter(points)
	ch.Summary = text.Number(len(points)) + " test rows; on the dashed line the prediction is correct."
	return ch
}

// Pairs turns a list of [x, y] into points.
func Pairs(list [][]float64) []Point {
	points := make([]Point, 0, len(list))
	for _, p := range list {
		if len(p) == 2 {
			points = append(points, Point{p[0], p[1]})
		}
	}
	return points
}
