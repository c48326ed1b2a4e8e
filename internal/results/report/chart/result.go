package chart

import (
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// shareAxis is an axis from 0 to 1.
var shareAxis = Axis{Low: 0, High: 1, Ticks: []float64{0, 0.2, 0.4, 0.6, 0.8, 1}}

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
	cut := h.Cut > max(0, low) && h.Cut < high
	if cut {
		top *= 1.15 // room for the label above the bars
	}
	ch := &Chart{
		Title: title, XLabel: results.Plain(h.Unit, ""), YLabel: "rows",
		X: Axis{Low: low, High: high, Ticks: niceTicks(low, high, 6)}, Y: Axis{Low: 0, High: top, Ticks: niceTicks(0, top, 4)},
	}
	for i, n := range h.Counts {
		total += n
		ch.Bars = append(ch.Bars, Bar{
			From: h.Edges[i], To: h.Edges[i+1], Height: float64(n),
			Title: fmt.Sprintf("%s to %s: %s", text.Significant(h.Edges[i]), text.Significant(h.Edges[i+1]), text.Number(n)),
		})
	}
	ch.Summary = fmt.Sprintf("%s from %s to %s.", text.Count(total, "value"), text.Significant(h.Edges[0]), text.Significant(h.Edges[len(h.Edges)-1]))
	if cut {
		ch.Rules = append(ch.Rules, Rule{h.Cut, "truncated at " + text.Significant(h.Cut), styleBest, labelRow{top: true}})
		ch.Summary += " Truncated at " + text.Significant(h.Cut) + "."
	}
	return ch
}

// ROC draws the true positive rate by the false positive rate. area is put behind the title.
func ROC(b *results.Binary, area string) *Chart {
	ch := shares("ROC curve"+area, "false positive rate", "true positive rate")
	ch.line("", styleChance, []Point{{0, 0}, {1, 1}}, false).line("", styleTrain, Pairs(b.ROC), false)
	ch.Summary = "True positive rate by false positive rate; the dashed line is random guessing."
	return ch
}

// PrecisionRecall draws the precision by the recall.
func PrecisionRecall(b *results.Binary) *Chart {
	ch := shares("Precision-recall curve", "recall", "precision")
	ch.line("", styleTrain, Pairs(b.PR), false)
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
	ch := shares("Calibration", "confidence", "accuracy")
	ch.line("", styleChance, []Point{{0, 0}, {1, 1}}, false).line("", styleTrain, points, true)
	ch.Summary = "Accuracy by confidence; on the dashed line both are equal."
	return ch
}

// Predicted draws predicted against true values; nil where there are none.
func Predicted(g *results.Regression) *Chart {
	if g == nil {
		return nil
	}
	points := Pairs(g.Points)
	if len(points) == 0 {
		return nil
	}
	low, high := diagonal(points)
	side := Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)}
	ch := &Chart{Title: "Predicted and true values", XLabel: "true value", YLabel: "predicted value", X: side, Y: side, Dots: points}
	ch.line("", styleChance, []Point{{low, low}, {high, high}}, false)
	ch.Summary = text.Number(len(points)) + " test rows; on the dashed line the prediction is correct."
	return ch
}

// shares is an empty chart of two numbers from 0 to 1.
func shares(title, x, y string) *Chart {
	return &Chart{Title: title, XLabel: x, YLabel: y, X: shareAxis, Y: shareAxis}
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
