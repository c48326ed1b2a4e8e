package chart

import (
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ncsa/clowder-ray/internal/text"
)

// legendRoom is the share of the height that is kept free for the legend above the lines.
const legendRoom = 0.3

// pen is how a style looks in a picture.
type pen struct {
	colour string
	width  vg.Length
	dashes []vg.Length
}

var pens = map[style]pen{
	styleSteps:      {colourSteps, 3, nil},
	styleTrain:      {colourTrain, 6, nil},
	styleValidation: {colourValidation, 6, nil},
	styleChance:     {colourBest, 3, []vg.Length{10, 10}},
	styleBest:       {colourBest, 3, []vg.Length{10, 10}},
	styleResume:     {colourResume, 3, []vg.Length{3, 8}},
}

// WritePNG draws the lines, dots and rules of a chart as a picture.
func WritePNG(w io.Writer, c *Chart) error {
	p := newPlot(c.Title, text.Capital(c.XLabel), "")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = c.X.Low, c.X.High, c.Y.Low, c.Y.High
	if c.hasLegend() {
		p.Y.Max += legendRoom * (c.Y.High - c.Y.Low)
	} else {
		p.Y.Label.Text = text.Capital(c.YLabel)
	}
	for _, side := range []struct {
		from Axis
		axis *plot.Axis
	}{{c.X, &p.X}, {c.Y, &p.Y}} {
		if side.from.Log {
			side.axis.Scale = plot.LogScale{}
		}
	}
	p.X.Tick.Marker = ticksOf(c.X)
	p.Y.Tick.Marker = ticksOf(c.Y)
	addGrid(p)
	for i, r := range c.Rules {
		if err := addLine(p, []Point{{r.At, p.Y.Min}, {r.At, p.Y.Max}}, pens[r.Style], c.shownLabel(i)); err != nil {
			return err
		}
	}
	for _, l := range c.Lines {
		if err := addLine(p, l.Points, pens[l.Style], l.Name); err != nil {
			return err
		}
		if l.Dotted {
			if err := addDots(p, l.Points, pens[l.Style].colour, 9); err != nil {
				return err
			}
		}
	}
	if err := addDots(p, c.Dots, colourTrain, 6); err != nil {
		return err
	}
	if err := addGroups(p, c); err != nil {
		return err
	}
	return writePlot(w, p)
}

// addGroups adds what only charts of graphs have: dots of several colours, and intervals.
func addGroups(p *plot.Plot, c *Chart) error {
	for _, g := range c.Groups {
		colour := colourOther
		if g.Colour >= 0 {
			colour = groupColours[g.Colour%len(groupColours)]
		}
		if err := addDots(p, g.Points, colour, 5); err != nil {
			return err
		}
	}
	for _, r := range c.Ranges {
		if err := addLine(p, []Point{{r.At, r.Low}, {r.At, r.High}}, pens[styleTrain], ""); err != nil {
			return err
		}
	}
	return nil
}
