package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxWords is how many characters of a word in a chart are shown.
const maxWords = 60

// OfBlock draws a block of a section; nil where it has nothing to show.
func OfBlock(b section.Block) *Chart {
	c := b.Chart
	if c == nil {
		return nil
	}
	ch := &Chart{
		Title: words(b.Title, "chart"), XLabel: words(c.X.Title, ""), YLabel: words(c.Y.Title, ""), Summary: results.Plain(c.Summary, ""),
	}
	var all []Point
	switch c.Form {
	case section.ChartBars:
		all = ch.bars(c)
	case section.ChartDots:
		all = ch.groups(c)
	default:
		all = ch.lines(c)
	}
	for _, s := range c.Series {
		for _, r := range s.Ranges {
			ch.Ranges = append(ch.Ranges, Range{r[0], r[1], r[2]})
			all = append(all, Point{r[0], r[1]}, Point{r[0], r[2]})
		}
	}
	if len(all) == 0 {
		return nil
	}
	if c.SameUnit {
		ch.X, ch.Y = sameUnit(all)
		ch.XLabel, ch.YLabel = "", ""
	} else {
		ch.X, ch.Y = axis(c.X, all, func(p Point) float64 { return p.X }, c.Form == section.ChartDots), axis(c.Y, all, func(p Point) float64 { return p.Y }, true)
	}
	for i, rule := range c.Rules {
		if rule.At > ch.X.Low && rule.At < ch.X.High {
			ch.Rules = append(ch.Rules, Rule{rule.At, words(rule.Label, ""), styleBest, labelRow{true, i % 2}})
		}
	}
	return ch
}

// blockStyles are the styles of the lines of a block, one after the other.
var blockStyles = []style{styleTrain, styleValidation, styleThird, styleFourth, styleFifth, styleSixth}

func (c *Chart) lines(b *section.Chart) []Point {
	var all []Point
	for i, s := range b.Series {
		points := places(s.Points)
		name := words(s.Name, "")
		if len(b.Series) == 1 {
			name = ""
		}
		c.line(name, blockStyles[i%len(blockStyles)], points, len(s.Ranges) > 0)
		all = append(all, points...)
	}
	return all
}

// groups are dots, with a colour for each series where there are several. A series without a name has the colour of no group.
func (c *Chart) groups(b *section.Chart) []Point {
	var all []Point
	for i, s := range b.Series {
		points := places(s.Points)
		all = append(all, points...)
		switch {
		case len(points) == 0:
		case len(b.Series) == 1 && !b.SameUnit:
			c.Dots = points
		case s.Name == "" && len(b.Series) > 1: // below the others
			c.Groups = slices.Insert(c.Groups, 0, Group{Name: "other", Colour: NoGroup, Points: points})
		default:
			c.Groups = append(c.Groups, Group{Name: words(s.Name, ""), Colour: i % len(groupColours), Points: points})
		}
	}
	return all
}

func (c *Chart) bars(b *section.Chart) []Point {
	all := []Point{}
	for _, s := range b.Series {
		for _, p := range s.Points {
			c.Bars = append(c.Bars, Bar{
				From: p[0], To: p[1], Height: p[2],
				Title: fmt.Sprintf("%s to %s: %s", text.Significant(p[0]), text.Significant(p[1]), text.Significant(p[2])),
			})
			all = append(all, Point{p[0], 0}, Point{p[1], p[2] * 1.06})
		}
	}
	return all
}

func places(list [][]float64) []Point {
	points := make([]Point, 0, len(list))
	for _, p := range list {
		points = append(points, Point{p[0], p[1]})
	}
	return points
}

// maxAxisLabels is how many words an axis has.
const maxAxisLabels = 7

// axis is the axis around the points. Roomy ones have room at both ends.
func axis(a section.ChartAxis, points []Point, of func(Point) float64, roomy bool) Axis {
	values := coordinate(points, of)
	low, high := slices.Min(values), slices.Max(values)
	switch {
	case a.Log && low > 0:
		return logAxis(values)
	case len(a.Labels) > 0:
		out := Axis{Low: -0.5, High: float64(len(a.Labels)) - 0.5}
		every := 1 + (len(a.Labels)-1)/maxAxisLabels
		for i, label := range a.Labels {
			if i%every == 0 {
				out.Ticks, out.Labels = append(out.Ticks, float64(i)), append(out.Labels, words(label, ""))
			}
		}
		return out
	}
	if roomy {
		low, high = span([]Point{{Y: low}, {Y: high}})
	}
	if a.Zero {
		low, high = min(low, 0), max(high, 0)
		if low < 0 && slices.Min(values) >= 0 {
			low = 0
		}
	}
	if !(high > low) {
		room := math.Max(math.Abs(low)*0.01, 1)
		low, high = low-room, high+room
	}
	return Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)}
}

func words(s, instead string) string { return text.Shorten(results.Plain(s, instead), maxWords) }
