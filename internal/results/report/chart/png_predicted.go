package chart

import (
	"io"

	"gonum.org/v1/plot/vg"
)

// WritePredictedPNG draws predicted against true values as a picture; on the dashed line they are the same.
func WritePredictedPNG(w io.Writer, points []Point) error {
	p := newPlot("Predicted and true values", "True value", "Predicted value")
	low, high := diagonal(points)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
	addGrid(p)
	if err := addLine(p, []Point{{low, low}, {high, high}}, colourBest, 3, []vg.Length{10, 10}, ""); err != nil {
		return err
	}
	if err := addDots(p, points, colourTrain, 6); err != nil {
		return err
	}
	return writePlot(w, p)
}

// diagonal is the range of both axes.
func diagonal(points []Point) (low, high float64) {
	mirrored := make([]Point, len(points))
	for i, p := range points {
		mirrored[i] = Point{p.Y, p.X}
	}
	return span(points, mirrored)
}
