package chart

import (
	"strconv"
	"strings"
)

// SVG is a chart as the template of the report draws it: all places are in units of the picture.
type SVG struct {
	Title, Summary string
	// XLabel stands below the picture, YLabel above it in place of a legend.
	XLabel, YLabel string
	// Width and Height are of the picture, Left … Bottom of the area within its axes.
	Width, Height            int
	Left, Right, Top, Bottom float64
	XTicks, YTicks           []svgTick
	Bars                     []svgBar
	Lines                    []svgLine
	Dots                     []Point
	Rules                    []svgRule
	Groups                   []svgGroup
	Ranges                   []svgRange
}

// svgGroup is dots of one colour. Path holds a line of no length for each dot, which is drawn round: thousands of circles would make the
// page large.
type svgGroup struct {
	Name, Class, Path string
}

// svgRange is a vertical line from High to Low.
type svgRange struct{ X, High, Low float64 }

// svgTick is a labelled place on an axis.
type svgTick struct {
	At    float64
	Label string
}

// svgLine is one line. Its name stands in the legend at Legend.
type svgLine struct {
	Name   string
	Class  string
	Points string
	Dots   []Point
	Legend float64
}

type svgBar struct {
	X, Y, Width, Height float64
	Title               string
}

// svgRule is a vertical line. X, Y and Anchor (start or end) are of its label.
type svgRule struct {
	At     float64
	X, Y   float64
	Label  string
	Class  string
	Anchor string
}

// The picture is small, so that its letters are legible where Clowder shows it 320 pixels wide.
const (
	svgWidth  = 420
	svgHeight = 282
	// letterWidth is of the digits of an axis where they are largest.
	letterWidth = 9.2
)

// The area within the axes of a chart without numbers, which needs no room for them.
const (
	bareLeft, bareRight = 4, svgWidth - 4
	bareTop, bareBottom = 26, svgHeight - 4
)

// SVG lays the chart out.
func (c *Chart) SVG() SVG {
	s := SVG{
		Title: c.Title, Summary: c.Summary, XLabel: c.XLabel, Width: svgWidth, Height: svgHeight,
		Left: 46, Right: svgWidth - 12, Top: 50, Bottom: svgHeight - 46,
	}
	if c.bare() {
		s.Left, s.Right, s.Top, s.Bottom = bareLeft, bareRight, bareTop, bareBottom
	}
	if !c.hasLegend() {
		s.YLabel = c.YLabel
	}
	xLabels, yLabels := c.X.labels(), c.Y.labels()
	for _, label := range yLabels {
		s.Left = max(s.Left, 12+letterWidth*float64(len(label)))
	}
	s.Left = Tenth(s.Left)
	if n := len(xLabels); n > 0 { // the last number reaches beyond its place
		s.Right = min(s.Right, Tenth(svgWidth-1-letterWidth/2*float64(len(xLabels[n-1]))))
	}
	for i, v := range c.X.Ticks {
		s.XTicks = append(s.XTicks, svgTick{s.x(c, v), xLabels[i]})
	}
	for i, v := range c.Y.Ticks {
		s.YTicks = append(s.YTicks, svgTick{s.y(c, v), yLabels[i]})
	}
	s.placeBars(c)
	s.placeLines(c)
	for _, p := range c.Dots {
		s.Dots = append(s.Dots, s.place(c, p))
	}
	s.placeGroups(c)
	for _, r := range c.Ranges {
		s.Ranges = append(s.Ranges, svgRange{s.x(c, r.At), s.y(c, r.High), s.y(c, r.Low)})
	}
	for i, r := range c.Rules {
		s.Rules = append(s.Rules, s.rule(c, r, c.shownLabel(i)))
	}
	return s
}

func (s *SVG) x(c *Chart, v float64) float64 { return Tenth(s.Left + (s.Right-s.Left)*c.X.share(v)) }

func (s *SVG) y(c *Chart, v float64) float64 { return Tenth(s.Bottom - (s.Bottom-s.Top)*c.Y.share(v)) }

func (s *SVG) place(c *Chart, p Point) Point { return Point{s.x(c, p.X), s.y(c, p.Y)} }

func (s *SVG) places(c *Chart, points []Point) []Point {
	placed := make([]Point, len(points))
	for i, p := range points {
		placed[i] = s.place(c, p)
	}
	return placed
}

func (s *SVG) placeBars(c *Chart) {
	for _, b := range c.Bars {
		left, right, y := s.x(c, b.From), s.x(c, b.To), s.y(c, b.Height)
		s.Bars = append(s.Bars, svgBar{
			X: left, Y: y, Width: Tenth(max(0.5, right-left-1)), Height: Tenth(max(0, s.Bottom-y)), Title: b.Title,
		})
	}
}

func (s *SVG) placeLines(c *Chart) {
	legend := s.Left
	for _, l := range c.Lines {
		line := svgLine{Name: l.Name, Class: string(l.Style), Legend: legend}
		if l.Name != "" {
			legend += 34 + 9.5*float64(len(l.Name))
		}
		var b strings.Builder
		for _, p := range l.Points {
			at := s.place(c, p)
			b.WriteString(strconv.FormatFloat(at.X, 'f', -1, 64) + "," + strconv.FormatFloat(at.Y, 'f', -1, 64) + " ")
			if l.Dotted {
				line.Dots = append(line.Dots, at)
			}
		}
		line.Points = strings.TrimSpace(b.String())
		s.Lines = append(s.Lines, line)
	}
}

func (s *SVG) placeGroups(c *Chart) {
	for _, g := range c.Groups {
		out := svgGroup{Name: g.Name, Class: "other"}
		if g.Colour >= 0 {
			out.Class = strconv.Itoa(g.Colour % len(groupColours))
		}
		var b strings.Builder
		for _, p := range g.Points {
			at := s.place(c, p)
			b.WriteString("M" + strconv.FormatFloat(at.X, 'f', -1, 64) + " " + strconv.FormatFloat(at.Y, 'f', -1, 64) + "h0")
		}
		out.Path = b.String()
		s.Groups = append(s.Groups, out)
	}
}

// rule places a vertical line with its label to the left, where there is room for it.
func (s *SVG) rule(c *Chart, r Rule, label string) svgRule {
	const height = 19
	out := svgRule{At: s.x(c, r.At), Label: label, Class: string(r.Style), Anchor: "start", Y: s.Bottom - 6 - height*float64(r.Row.number)}
	if r.Row.top {
		out.Y = s.Top + 14 + height*float64(r.Row.number)
	}
	out.X = out.At + 5
	if c.X.share(r.At) > 0.2 {
		out.Anchor, out.X = "end", out.At-5
	}
	return out
}
