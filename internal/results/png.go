package results

import (
	"fmt"
	"image/color"
	"io"
	"math"
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
)

// The picture is drawn three times as large as Clowder shows it in its cards (about 350 pixels), with letters to match.
const (
	pngWidth  = 1050
	pngHeight = 690
	pngDPI    = 72 // one point is one pixel
	pngText   = 36
	// pngHeadroom is the share of the height that is kept free for the legend above the lines.
	pngHeadroom = 0.3
)

// writePNG draws the loss curve as a picture.
func writePNG(w io.Writer, c curves) error {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = "Loss (lower is better)"
	letters(&p.Title.TextStyle)
	p.Title.Padding = vg.Points(12)
	p.X.Label.Text = "Epoch"
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		letters(&axis.Label.TextStyle)
		letters(&axis.Tick.Label)
		axis.Width = 2
		axis.Tick.Width = 2
		axis.Tick.Length = 10
		axis.Padding = vg.Points(6)
	}
	p.X.Min, p.X.Max = 0, max(1, c.Epochs)
	p.X.Tick.Marker = ticks(func(lo, hi float64) []float64 { return epochTicks(lo, hi, 8) })
	p.Y.Tick.Marker = ticks(func(lo, hi float64) []float64 { return niceTicks(lo, hi, 5) })
	p.Legend.Top = true
	letters(&p.Legend.TextStyle)
	p.Legend.ThumbnailWidth = 60
	p.Legend.Padding = 10

	low, high := c.lossRange()
	high += pngHeadroom * (high - low)
	p.Y.Min, p.Y.Max = low, high
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 0xdd}
	grid.Horizontal.Width = 2
	p.Add(grid)
	if c.Best > 0 {
		if err := addLine(p, []point{{c.Best, low}, {c.Best, high}}, colourBest, 3, []vg.Length{10, 10}, "best: epoch "+trim(c.Best)); err != nil {
			return err
		}
	}
	if err := addLine(p, c.Steps, colourSteps, 3, nil, ""); err != nil {
		return err
	}
	train, trainColour := c.TrainLoss, colourTrain
	if len(train) == 0 {
		train = c.Steps
	}
	if err := addLine(p, train, trainColour, 6, nil, "training"); err != nil {
		return err
	}
	if err := addLine(p, c.ValidationLoss, colourValidation, 6, nil, "validation"); err != nil {
		return err
	}
	for _, dots := range []struct {
		line   []point
		colour string
	}{{c.TrainLoss, colourTrain}, {c.ValidationLoss, colourValidation}} {
		if err := addDots(p, dots.line, dots.colour); err != nil {
			return err
		}
	}

	canvas := vgimg.NewWith(vgimg.UseWH(pngWidth, pngHeight), vgimg.UseDPI(pngDPI), vgimg.UseBackgroundColor(color.White))
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

func addLine(p *plot.Plot, line []point, colour string, width vg.Length, dashes []vg.Length, legend string) error {
	if len(line) == 0 {
		return nil
	}
	l, err := plotter.NewLine(xys(line))
	if err != nil {
		return fmt.Errorf("draw the %s line: %w", legend, err)
	}
	l.LineStyle = draw.LineStyle{Color: rgb(colour), Width: width, Dashes: dashes}
	p.Add(l)
	if legend != "" {
		p.Legend.Add(legend, l)
	}
	return nil
}

func addDots(p *plot.Plot, line []point, colour string) error {
	if len(line) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(xys(line))
	if err != nil {
		return fmt.Errorf("draw the points: %w", err)
	}
	s.GlyphStyle = draw.GlyphStyle{Color: rgb(colour), Radius: 9, Shape: draw.CircleGlyph{}}
	p.Add(s)
	return nil
}

func xys(line []point) plotter.XYs {
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

// ticks places the marks of an axis.
type ticks func(lo, hi float64) []float64

// Ticks implements plot.Ticker.
func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for _, v := range t(lo, hi) {
		out = append(out, plot.Tick{Value: v, Label: trim(v)})
	}
	return out
}

// lossRange is the span of all losses, with some room and never empty.
func (c curves) lossRange() (low, high float64) {
	return span(c.Steps, c.TrainLoss, c.ValidationLoss)
}

// span is the span of the values of lines, with some room and never empty.
func span(lines ...[]point) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, line := range lines {
		for _, p := range line {
			low, high = min(low, p.Y), max(high, p.Y)
		}
	}
	if low > high {
		return 0, 1
	}
	room := max((high-low)*0.06, math.Abs(high)*1e-3, 1e-6)
	return low - room, high + room
}

// niceTicks are about n round values within lo and hi.
func niceTicks(lo, hi float64, n int) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(n))))
	for _, f := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*f) <= float64(n) {
			step *= f
			break
		}
	}
	var out []float64
	for i := math.Ceil(lo / step); i*step <= hi && len(out) <= 2*n; i++ {
		out = append(out, i*step)
	}
	return out
}

// epochTicks are whole epochs, at most about n of them.
func epochTicks(_, hi float64, n int) []float64 {
	step := max(1, math.Ceil(hi/float64(n)))
	var out []float64
	for v := 0.0; v <= hi && len(out) <= 2*n; v += step {
		out = append(out, v)
	}
	return out
}

// round keeps four digits behind the point, which no picture shows more of.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// trim writes a number as short as it is.
func trim(v float64) string { return strconv.FormatFloat(round(v), 'f', -1, 64) }
