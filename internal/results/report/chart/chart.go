package chart

import (
	"math"
	"slices"
)

// Chart is a chart in the units of its data. SVG, WritePNG and WriteVega draw it.
type Chart struct {
	Title string
	// Summary says in words what is drawn, for those who do not see it.
	Summary string
	// XLabel and YLabel name the axes. A chart with a legend shows no YLabel beside it: Title says it.
	XLabel, YLabel string
	X, Y           Axis
	Bars           []Bar
	Lines          []Line
	// Dots are points without a line.
	Dots  []Point
	Rules []Rule
	// Groups are dots with a colour for each group, whose names stand below the picture.
	Groups []Group
	// Ranges are vertical lines that show intervals.
	Ranges []Range
}

// Axis is the range of one axis and the values that are marked on it. Labels are the words at these values, nil for the values themselves.
// Log says that equal steps are equal factors; then Low is above 0.
type Axis struct {
	Low, High float64
	Ticks     []float64
	Labels    []string
	Log       bool
}

// Point is a place in a chart.
type Point struct{ X, Y float64 }

// Line joins points. A line without a name is not in the legend. Dotted says that its points are marked one by one.
type Line struct {
	Name   string
	Style  style
	Points []Point
	Dotted bool
}

// Bar is one bar of a histogram, from From to To. Title says its height in words.
type Bar struct {
	From, To, Height float64
	Title            string
}

// Rule is a vertical line.
type Rule struct {
	At    float64
	Label string
	Style style
	Row   labelRow
}

// Group is dots of one colour. Colour is a place in the list of colours; the dots of no group have a colour of their own, NoGroup.
type Group struct {
	Name   string
	Colour int
	Points []Point
}

// NoGroup is the colour of dots that belong to none of the named groups.
const NoGroup = -1

// Range is an interval at one place.
type Range struct{ At, Low, High float64 }

// style is how a line looks. In the HTML report it is the name of a style class.
type style string

const (
	styleSteps      style = "steps"
	styleTrain      style = "train"
	styleValidation style = "valid"
	styleChance     style = "chance"
	styleBest       style = "best"
	styleResume     style = "resume"
	styleThird      style = "third"
	styleFourth     style = "fourth"
	styleFifth      style = "fifth"
	styleSixth      style = "sixth"
)

// labelRow is where the label of a rule stands: in a row from the top or from the bottom, so that the labels of two rules that are
// near each other can both be read.
type labelRow struct {
	top    bool
	number int
}

// fewDots is up to how many points of a line are marked one by one.
const fewDots = 60

// line adds a line, unless it has no points. A line of very many points has no dots.
func (c *Chart) line(name string, s style, points []Point, dotted bool) *Chart {
	if len(points) > 0 {
		c.Lines = append(c.Lines, Line{name, s, points, dotted && len(points) <= fewDots})
	}
	return c
}

// hasLegend reports whether the lines have names.
func (c *Chart) hasLegend() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Name != "" })
}

// bare reports whether nothing stands beside the axes.
func (c *Chart) bare() bool {
	return len(c.X.Ticks)+len(c.Y.Ticks) == 0 && c.XLabel+c.YLabel == ""
}

// shownLabel is the label of rule i. Of rules with the same label, only the first shows it.
func (c *Chart) shownLabel(i int) string {
	for _, before := range c.Rules[:i] {
		if before.Label == c.Rules[i].Label {
			return ""
		}
	}
	return c.Rules[i].Label
}

// labels are the words at the ticks, one for each.
func (a Axis) labels() []string {
	if a.Labels != nil {
		return a.Labels
	}
	return tickLabels(a.Ticks)
}

// share is where v lies on the axis, 0..1.
func (a Axis) share(v float64) float64 {
	if !(a.High > a.Low) {
		return 0
	}
	if a.Log {
		return min(1, max(0, (math.Log(max(v, a.Low))-math.Log(a.Low))/(math.Log(a.High)-math.Log(a.Low))))
	}
	return min(1, max(0, (v-a.Low)/(a.High-a.Low)))
}

// Tenth rounds to a tenth of a unit, which nobody sees.
func Tenth(v float64) float64 { return math.Round(v*10) / 10 }
