package results

import (
	"io"

	"gonum.org/v1/plot/vg"
)

// plotPredicted draws predicted against true values as a picture; on the dashed line they are the same.
func plotPredicted(w io.Writer, points []point) error {
	p := newPlot("Predicted against true values", "True", "Predicted")
	low, high := diagonal(points)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
	addGrid(p)
	if err := addLine(p, []point{{low, low}, {high, high}}, colourBest, 3, []vg.Length{10, 10}, ""); err != nil {
		return err
	}
	if err := addDots(p, points, colourTrain, 6); err != nil {
		return err
	}
	return writePlot(w, p)
}

// diagonal is the range of both axes.
func diagonal(points []point) (low, high float64) {
	mirrored := make([]point, len(points))
	for i, p := range points {
		mirrored[i] = point{p.Y, p.X}
	}
	return span(points, mirrored)
}
