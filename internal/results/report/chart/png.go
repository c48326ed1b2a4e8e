package chart

import (
	"fmt"
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The colours of all pictures: told apart by colour-blind eyes, and dark enough on white.
const (
	colourTrain      = "#0b69a3"
	colourSteps      = "#a9cfe4"
	colourValidation = "#c4570a"
	colourBest       = "#486581"
	colourText       = "#334e68"
	colourResume     = "#8a6fb0"
	colourOther      = "#bcccdc"
)

// groupColours are the colours of groups of dots, the same as in the style rules of the report.
var groupColours = []string{"#0b69a3", "#d1600a", "#168a58", "#a8488c", "#b58900", "#3fa0d6", "#6a4fb3", "#4f5b66", "#c2185b"}

// The picture is drawn three times as large as Clowder shows it in its cards (about 350 pixels), with letters to match.
const (
	PNGWidth  = 1050
	PNGHeight = 690
	pngDPI    = 72 // one point is one pixel
	pngText   = 36
)

// newPlot is an empty picture in the style of all of them.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = title
	letters(&p.Title.TextStyle)
	p.Title.Padding = vg.Points(12)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		letters(&axis.Label.TextStyle)
		letters(&axis.Tick.Label)
		axis.Width = 2
		axis.Tick.Width = 2
		axis.Tick.Length = 10
		axis.Padding = vg.Points(6)
	}
	p.Legend.Top = true
	letters(&p.Legend.TextStyle)
	p.Legend.ThumbnailWidth = 60
	p.Legend.Padding = 10
	return p
}

// addGrid adds horizontal lines.
func addGrid(p *plot.Plot) {
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 0xdd}
	grid.Horizontal.Width = 2
	p.Add(grid)
}

// writePlot writes a picture as PNG: the same picture gives the same bytes.
func writePlot(w io.Writer, p *plot.Plot) error {
	canvas := vgimg.NewWith(vgimg.UseWH(PNGWidth, PNGHeight), vgimg.UseDPI(pngDPI), vgimg.UseBackgroundColor(color.White))
	p.Draw(draw.Crop(draw.New(canvas), 16, -24, 12, -12))
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// letters makes a text large and without serifs, which stay legible when the picture is made small.
func letters(style *draw.TextStyle) {
	style.Font.Size = pngText
	style.Font.Variant = "Sans"
	style.Color = rgb(colourText)
}

func addLine(p *plot.Plot, line []Point, by pen, legend string) error {
	if len(line) == 0 {
		return nil
	}
	l, err := plotter.NewLine(xys(line))
	if err != nil {
		return fmt.Errorf("draw the %s line: %w", legend, err)
	}
	l.LineStyle = draw.LineStyle{Color: rgb(by.colour), Width: by.width, Dashes: by.dashes}
	p.Add(l)
	if legend != "" {
		p.Legend.Add(legend, l)
	}
	return nil
}

// addDots marks the points of a line one by one.
func addDots(p *plot.Plot, line []Point, colour string, radius vg.Length) error {
	if len(line) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(xys(line))
	if err != nil {
		return fmt.Errorf("draw the points: %w", err)
	}
	s.GlyphStyle = draw.GlyphStyle{Color: rgb(colour), Radius: radius, Shape: draw.CircleGlyph{}}
	p.Add(s)
	return nil
}

func xys(line []Point) plotter.XYs {
	out := make(plotter.XYs, len(line))
	for i, p := range line {
		out[i].X, out[i].Y = p.X, p.Y
	}
	return out
}

// rgb reads one of the colours above.
func rgb(hex string) color.Color {
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		return color.Black
	}
	return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff} //nolint:gosec // the low byte is meant
}

// ticksOf are the marks of an axis.
func ticksOf(a Axis) plot.ConstantTicks {
	var out plot.ConstantTicks
	for i, label := range a.labels() {
		out = append(out, plot.Tick{Value: a.Ticks[i], Label: label})
	}
	return out
}
