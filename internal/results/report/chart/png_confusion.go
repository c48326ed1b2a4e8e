package chart

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ncsa/clowder-ray/internal/text"
)

// shades are the colours of a confusion matrix from no row to all of them, as the report has them.
var shades = [11]string{
	"#f4f7fa", "#e3eff7", "#d2e6f2", "#bfdcec", "#a9cfe4", "#8dbfda", "#6aaacd", "#3f8dba", "#2379ac", "#0f6399", "#0a5382",
}

// darkShade is the first shade that needs white letters.
const darkShade = 7

// WriteConfusionPNG draws the confusion matrix as a picture, the true classes downwards.
func WriteConfusionPNG(w io.Writer, m *Matrix) error {
	p := newPlot("True class (rows), predicted class (columns)", "", "")
	n := len(m.Rows)
	var columns, rows []plot.Tick
	for i, row := range m.Rows {
		columns = append(columns, plot.Tick{Value: float64(i), Label: text.Shorten(m.Heads[i], 60/n+1)})
		rows = append(rows, plot.Tick{Value: float64(n - 1 - i), Label: text.Shorten(row.Label, 18)})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(columns), plot.ConstantTicks(rows)
	p.X.Tick.Length, p.Y.Tick.Length, p.X.Width, p.Y.Width = 0, 0, 0, 0
	if m.Wide {
		p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = pngText*2/3, pngText*2/3
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5, -0.5, float64(n)-0.5
	p.Add(heatmap{m})
	return writePlot(w, p)
}

// heatmap draws the cells of a matrix.
type heatmap struct{ m *Matrix }

// Plot implements plot.Plotter.
func (h heatmap) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	n := len(h.m.Rows)
	var style draw.TextStyle
	letters(&style)
	style.Handler = p.X.Tick.Label.Handler
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	style.Font.Size = vg.Length(min(pngText, 420/float64(n)))
	for i, row := range h.m.Rows {
		for j, cell := range row.Cells {
			left, right := x(float64(j)-0.48), x(float64(j)+0.48)
			low, high := y(float64(n-1-i)-0.48), y(float64(n-1-i)+0.48)
			c.FillPolygon(rgb(shades[cell.Shade]), []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
			style.Color = rgb(colourText)
			if cell.Shade >= darkShade {
				style.Color = color.White
			}
			if n <= MaxMatrixClasses/2 || cell.Shade > 0 {
				words := cell.Count
				if cell.Percent != "" {
					words += "\n" + cell.Percent
				}
				c.FillText(style, vg.Point{X: (left + right) / 2, Y: (low + high) / 2}, words)
			}
		}
	}
}
