package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/graph"
	"github.com/ncsa/clowder-ray/internal/text"
)

// DegreeDistribution draws how many nodes have how many edges, on logarithmic axes; nil without nodes that have edges. A bin of several
// degrees shows the nodes for each of them, so that its width does not matter.
func DegreeDistribution(d *graph.Bins) *Chart {
	if d == nil {
		return nil
	}
	var points []Point
	var most float64
	for i, n := range d.Counts {
		low, high := max(d.Edges[i], 1), max(d.Edges[i+1], 1)
		if n == 0 || !(high > low) {
			continue
		}
		points = append(points, Point{math.Sqrt(low) * math.Sqrt(max(low, high-1)), float64(n) / max(1, high-low)})
		most = max(most, high-1)
	}
	if len(points) == 0 {
		return nil
	}
	ch := &Chart{
		Title: "Edges of a node", XLabel: "degree", YLabel: "nodes with this degree",
		X: logAxis(xOf(points)), Y: logAxis(yOf(points)), Dots: points,
	}
	ch.Summary = fmt.Sprintf("Nodes by their number of edges, on logarithmic axes; the largest number is at most %s.", text.Significant(most))
	return ch
}

// Embedding draws the nodes in two dimensions; nil without any. Both axes have the same unit.
func Embedding(p *graph.Picture) *Chart {
	if p == nil || len(p.Points) == 0 {
		return nil
	}
	ch := &Chart{Title: "Nodes as the model sees them"}
	for i, name := range p.Groups {
		if i < len(groupColours) {
			ch.Groups = append(ch.Groups, Group{Name: text.Shorten(results.Plain(name, "(empty)"), 40), Colour: i})
		}
	}
	rest := Group{Name: "other nodes", Colour: NoGroup}
	if len(p.Groups) == 0 {
		rest = Group{Colour: 0}
	}
	var all []Point
	for _, v := range p.Points {
		at := Point{v[0], v[1]}
		all = append(all, at)
		if g := int(v[2]); g >= 0 && g < len(ch.Groups) {
			ch.Groups[g].Points = append(ch.Groups[g].Points, at)
		} else {
			rest.Points = append(rest.Points, at)
		}
	}
	if len(rest.Points) > 0 { // below the others
		ch.Groups = slices.Insert(ch.Groups, 0, rest)
	}
	ch.X, ch.Y = sameUnit(all)
	ch.Summary = text.Count(len(all), "node") + " by the two directions in which their vectors differ most; near nodes are alike to the model."
	return ch
}

// ScoresByDegree draws a metric by the number of training edges, with intervals; nil for fewer than two rows.
func ScoresByDegree(d *graph.ByDegree) *Chart {
	if d == nil || len(d.Rows) < 2 {
		return nil
	}
	name := results.MetricName(d.Metric)
	ch := &Chart{
		Title: results.Title(d.Metric) + " by the edges of a node", XLabel: "edges that the model sees, from", YLabel: name,
		X: Axis{Low: -0.5, High: float64(len(d.Rows)) - 0.5},
	}
	var ends []Point
	every := 1 + (len(d.Rows)-1)/maxBinLabels
	for i, r := range d.Rows {
		at := float64(i)
		low, high := r.Bounds()
		ends = append(ends, Point{at, low}, Point{at, high}, Point{at, r.Value})
		ch.Dots = append(ch.Dots, Point{at, r.Value})
		ch.Ranges = append(ch.Ranges, Range{at, low, high})
		if i%every == 0 {
			ch.X.Ticks, ch.X.Labels = append(ch.X.Ticks, at), append(ch.X.Labels, strconv.FormatInt(r.From, 10))
		}
	}
	low, high := span(ends)
	low = min(low, 0) // a metric of links is small for some degrees, and 0 tells how small
	ch.Y = Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)}
	first, last := d.Rows[0], d.Rows[len(d.Rows)-1]
	ch.Summary = fmt.Sprintf("%s from %s (%s to %s edges) to %s (%s to %s), with 95 %% intervals.", results.Title(d.Metric), results.Figure(d.Metric, first.Value),
		text.Number(first.From), text.Number(first.To), results.Figure(d.Metric, last.Value), text.Number(last.From), text.Number(last.To))
	return ch
}

// maxBinLabels is how many rows of a chart can have a label.
const maxBinLabels = 7

// Scores draws the probabilities of edges and of random pairs, as shares of each, and the threshold; nil without any.
func Scores(s *graph.Scores) *Chart {
	if s == nil || len(s.Positive) == 0 {
		return nil
	}
	edges, negatives := outline(s.Edges, s.Positive), outline(s.Edges, s.Negative)
	low, high := s.Edges[0], s.Edges[len(s.Edges)-1]
	_, top := span(edges, negatives)
	ch := &Chart{
		Title: "Scores of edges and of random pairs", XLabel: "probability of an edge", YLabel: "share",
		X: Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)}, Y: Axis{Low: 0, High: top, Ticks: niceTicks(0, top, 4)},
	}
	ch.line("test edges", styleTrain, edges, false).line("random pairs", styleValidation, negatives, false)
	ch.Summary = fmt.Sprintf("Share of the test edges and of random pairs without an edge by their score, from %s to %s.", text.Significant(low), text.Significant(high))
	if t := s.Threshold; t != nil && *t > low && *t < high {
		ch.Rules = append(ch.Rules, Rule{*t, "edge from here on", styleBest, labelRow{top: true}})
		ch.Summary += " A pair is called an edge from " + text.Significant(*t) + " on."
	}
	return ch
}

// outline is the line around the bars of a histogram whose heights are shares.
func outline(bins []float64, counts []int64) []Point {
	var total int64
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return nil
	}
	points := []Point{{bins[0], 0}}
	for i, n := range counts {
		share := float64(n) / float64(total)
		points = append(points, Point{bins[i], share}, Point{bins[i+1], share})
	}
	return append(points, Point{bins[len(bins)-1], 0})
}

func xOf(points []Point) []float64 { return coordinate(points, func(p Point) float64 { return p.X }) }

func yOf(points []Point) []float64 { return coordinate(points, func(p Point) float64 { return p.Y }) }

func coordinate(points []Point, of func(Point) float64) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = of(p)
	}
	return out
}

// logAxis is a logarithmic axis around values above 0. Its marks are powers of ten, or between them where it is short.
func logAxis(values []float64) Axis {
	low, high := slices.Min(values)/1.3, slices.Max(values)*1.3
	axis := Axis{Low: low, High: high, Log: true}
	factors := []float64{1}
	if high < 30*low {
		factors = []float64{1, 2, 5}
	}
	from, to := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	step := 1 + (to-from)/7
	for e := from; e <= to; e += step {
		for _, f := range factors {
			if v := f * math.Pow(10, float64(e)); v >= low && v <= high {
				axis.Ticks = append(axis.Ticks, v)
			}
		}
	}
	return axis
}

// sameUnit are axes around points that have the same unit in both directions, and no marks: only the distances mean something.
func sameUnit(points []Point) (x, y Axis) {
	xs, ys := xOf(points), yOf(points)
	x, y = Axis{Low: slices.Min(xs), High: slices.Max(xs)}, Axis{Low: slices.Min(ys), High: slices.Max(ys)}
	const wide, room = float64(bareRight-bareLeft) / (bareBottom - bareTop), 1.05
	height := room * max(y.High-y.Low, (x.High-x.Low)/wide, 1e-9)
	width := height * wide
	middle := func(a Axis) float64 { return a.Low/2 + a.High/2 }
	x, y = Axis{Low: middle(x) - width/2, High: middle(x) + width/2}, Axis{Low: middle(y) - height/2, High: middle(y) + height/2}
	return x, y
}
