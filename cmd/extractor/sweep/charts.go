package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxLines bounds the lines of a chart: a legend has no room for more.
const maxLines = 4

// charts are drawn where there is more than one number on their axis.
func (t *table) charts() []*chart.Chart {
	workers, epochs := map[int]bool{}, map[int]bool{}
	for _, r := range t.Rows {
		workers[r.Workers], epochs[r.Epochs] = true, true
	}
	var out []*chart.Chart
	if len(workers) > 1 {
		out = append(out, t.timeChart(), t.speedUpChart())
	}
	if len(epochs) > 1 && t.any(func(r row) bool { return r.Score.N > 0 }) {
		out = append(out, t.scoreChart())
	}
	return out
}

// timeChart draws the time of the training over the workers, a line for each number of epochs.
func (t *table) timeChart() *chart.Chart {
	return draw("Time of the training in seconds", "workers", 0, t.lined(
		func(r row) (int, string) { return r.Epochs, text.Count(r.Epochs, "epoch") },
		func(r row) (chart.Point, bool) { return chart.Point{X: float64(r.Workers), Y: r.TrainingSeconds}, true }))
}

// speedUpChart draws the speed-up over the workers, beside the best one that is possible.
func (t *table) speedUpChart() *chart.Chart {
	lines := t.lined(func(r row) (int, string) { return r.Epochs, text.Count(r.Epochs, "epoch") }, func(r row) (chart.Point, bool) {
		speedUp, _ := t.speedUp(r)
		return chart.Point{X: float64(r.Workers), Y: speedUp}, speedUp > 0
	})
	lines = lines[:min(len(lines), maxLines-1)]
	possible := chart.Line{Name: "possible", Style: "possible"}
	for _, r := range t.with(t.Rows[len(t.Rows)-1].Epochs) {
		base := t.base(r)
		possible.Points = append(possible.Points, chart.Point{X: float64(r.Workers), Y: float64(r.Workers) / float64(base.Workers)})
	}
	return draw("Speed-up", "workers", 0, append(lines, possible))
}

// scoreChart draws the score over the epochs, a line for each number of workers.
func (t *table) scoreChart() *chart.Chart {
	lines := t.lined(func(r row) (int, string) { return r.Workers, text.Count(r.Workers, "worker") },
		func(r row) (chart.Point, bool) {
			return chart.Point{X: float64(r.Epochs), Y: r.Score.Value}, r.Score.N > 0
		})
	return draw(results.Title(t.Rows[0].Metric)+" on the test rows", "epochs", math.NaN(), lines)
}

// lined makes a line for each key, at most maxLines of them.
func (t *table) lined(key func(row) (int, string), at func(row) (chart.Point, bool)) []chart.Line {
	names, points := map[int]string{}, map[int][]chart.Point{}
	var keys []int
	for _, r := range t.Rows {
		k, name := key(r)
		p, ok := at(r)
		if !ok {
			continue
		}
		if _, seen := names[k]; !seen {
			keys = append(keys, k)
		}
		names[k], points[k] = name, append(points[k], p)
	}
	slices.Sort(keys)
	var out []chart.Line
	for i, k := range keys[:min(len(keys), maxLines)] {
		line := chart.Line{Name: names[k], Points: points[k], Dotted: true}
		switch i { // the classes of the page
		case 0:
			line.Style = "first"
		case 1:
			line.Style = "second"
		case 2:
			line.Style = "third"
		default:
			line.Style = "fourth"
		}
		out = append(out, line)
	}
	return out
}

// draw lays lines out. The vertical axis begins at least at from, unless that is not a number.
func draw(title, label string, from float64, lines []chart.Line) *chart.Chart {
	low, high, left, right := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	var ticks []float64
	var words []string
	for _, l := range lines {
		for _, p := range l.Points {
			low, high, left, right = min(low, p.Y), max(high, p.Y), min(left, p.X), max(right, p.X)
			if !slices.Contains(ticks, p.X) {
				ticks = append(ticks, p.X)
			}
		}
		if n := len(l.Points); n > 0 && l.Style != "possible" {
			words = append(words, fmt.Sprintf("%s: from %s to %s.", text.Capital(l.Name), text.Significant(round(l.Points[0].Y)), text.Significant(round(l.Points[n-1].Y))))
		}
	}
	slices.Sort(ticks)
	if right <= left {
		right = left + 1
	}
	room := max((high-low)*0.08, math.Abs(high)*5e-3, 1e-6)
	low, high = low-room, high+room
	if !math.IsNaN(from) {
		low = min(from, low+room)
	}
	return &chart.Chart{
		Title: title, Summary: strings.Join(words, " "), XLabel: label, Lines: lines,
		X: chart.Axis{Low: left, High: right, Ticks: apart(ticks, left, right)}, Y: chart.Axis{Low: low, High: high, Ticks: chart.Ticks(low, high, 5)},
	}
}

// apart leaves out the ticks whose labels would touch.
func apart(ticks []float64, left, right float64) []float64 {
	var out []float64
	for _, v := range ticks {
		if len(out) == 0 || v-out[len(out)-1] > (right-left)/12 {
			out = append(out, v)
		}
	}
	return out
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
