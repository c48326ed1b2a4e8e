package chart

import (
	"math"
	"strconv"
	"strings"
)

// Chart is a chart as the report's template draws it: all places are computed here, in units of the picture.
type Chart struct {
	Title string
	// Summary says in words what is drawn, for those who do not see it.
	Summary string
	// XLabel stands below the picture, YLabel above it in place of a legend.
	XLabel, YLabel string
	// Width and Height are of the picture, Left … Bottom of the area within its axes.
	Width, Height            int
	Left, Right, Top, Bottom float64
	XTicks, YTicks           []mark
	Bars                     []chartBar
	Lines                    []chartLine
	Dots                     []Point
	Rules                    []chartRule

	x, y   axis
	legend float64
}

// axis is what one axis shows.
type axis struct {
	low, high float64
	ticks     []float64
}

// mark is a labelled place on an axis.
type mark struct {
	At    float64
	Label string
}

// chartLine is one line of a chart. One without a name is not in the legend, which stands at Legend.
type chartLine struct {
	Name   string
	Class  string
	Points string
	Dots   []Point
	Legend float64
}

// chartBar is one bar of a histogram.
type chartBar struct {
	X, Y, Width, Height float64
	Title               string
}

// chartRule is a vertical line. X, Y and Anchor (start or end) are of its label.
type chartRule struct {
	At     float64
	X, Y   float64
	Label  string
	Class  string
	Anchor string
}

// The picture is small, so that its letters are legible where Clowder shows it 320 pixels wide.
const (
	chartWidth  = 420
	chartHeight = 282
	// letterWidth is of the digits of an axis where they are largest.
	letterWidth = 9.2
	// fewDots is up to how many points of a line are marked one by one.
	fewDots = 60
)

func newChart(title, xLabel string, x, y axis) *Chart {
	c := &Chart{
		Title: title, XLabel: xLabel, Width: chartWidth, Height: chartHeight,
		Left: 46, Right: chartWidth - 12, Top: 50, Bottom: chartHeight - 46, x: x, y: y,
	}
	xLabels, yLabels := tickLabels(x.ticks), tickLabels(y.ticks)
	for _, label := range yLabels {
		c.Left = max(c.Left, 12+letterWidth*float64(len(label)))
	}
	c.Left = Tenth(c.Left)
	if n := len(xLabels); n > 0 { // the last number reaches beyond its place
		c.Right = min(c.Right, Tenth(chartWidth-1-letterWidth/2*float64(len(xLabels[n-1]))))
	}
	c.legend = c.Left
	for i, v := range x.ticks {
		c.XTicks = append(c.XTicks, mark{c.atX(v), xLabels[i]})
	}
	for i, v := range y.ticks {
		c.YTicks = append(c.YTicks, mark{c.atY(v), yLabels[i]})
	}
	return c
}

func (c *Chart) atX(v float64) float64 { return Tenth(c.Left + (c.Right-c.Left)*c.x.share(v)) }
func (c *Chart) atY(v float64) float64 { return Tenth(c.Bottom - (c.Bottom-c.Top)*c.y.share(v)) }

// share is where v lies on the axis, 0..1.
func (a axis) share(v float64) float64 {
	if !(a.high > a.low) {
		return 0
	}
	return min(1, max(0, (v-a.low)/(a.high-a.low)))
}

// line draws a line through points; named and marked ones have a legend and dots.
func (c *Chart) line(name, class string, points []Point, dots bool) *Chart {
	if len(points) == 0 {
		return c
	}
	l := chartLine{Name: name, Class: class, Legend: c.legend}
	if name != "" {
		c.legend += 34 + 9.5*float64(len(name))
	}
	var b strings.Builder
	for _, p := range points {
		at := Point{c.atX(p.X), c.atY(p.Y)}
		b.WriteString(strconv.FormatFloat(at.X, 'f', -1, 64) + "," + strconv.FormatFloat(at.Y, 'f', -1, 64) + " ")
		if dots && len(points) <= fewDots {
			l.Dots = append(l.Dots, at)
		}
	}
	l.Points = strings.TrimSpace(b.String())
	c.Lines = append(c.Lines, l)
	return c
}

// rule draws a vertical line with a label to its left, where there is room for it, in one of the rows below the top or above
// the bottom.
func (c *Chart) rule(class, label string, x float64, row labelRow) {
	const height = 19
	r := chartRule{At: c.atX(x), Label: label, Class: class, Anchor: "start", Y: c.Bottom - 6 - height*float64(row.number)}
	if row.top {
		r.Y = c.Top + 14 + height*float64(row.number)
	}
	r.X = r.At + 5
	if c.x.share(x) > 0.2 {
		r.Anchor, r.X = "end", r.At-5
	}
	c.Rules = append(c.Rules, r)
}

// labelRow is where the label of a rule stands: in a row from the top or from the bottom, so that those of two rules that are
// near each other can both be read.
type labelRow struct {
	top    bool
	number int
}

// scatter draws points without a line.
func (c *Chart) scatter(points []Point) *Chart {
	for _, p := range points {
		c.Dots = append(c.Dots, Point{c.atX(p.X), c.atY(p.Y)})
	}
	return c
}

// Tenth rounds to a tenth of a unit, which nobody sees.
func Tenth(v float64) float64 { return math.Round(v*10) / 10 }
