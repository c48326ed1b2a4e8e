package chart

import (
	"io"

	"gonum.org/v1/plot/vg"

	"github.com/ncsa/clowder-ray/internal/text"
)

// legendRoom is the share of the height that is kept free for the legend above the lines.
const legendRoom = 0.3

// WriteLossPNG draws the loss curve as a picture.
func WriteLossPNG(w io.Writer, c Curves) error {
	p := newPlot("Loss (lower is better)", "Epoch", "")
	low, high := c.lossRange()
	high += legendRoom * (high - low)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, max(1, c.Epochs), low, high
	p.X.Tick.Marker = ticks(func(lo, hi float64) []float64 { return epochTicks(lo, hi, 8) })
	addGrid(p)
	for i, at := range c.Resumes {
		legend := ""
		if i == 0 {
			legend = "resumed"
		}
		if err := addLine(p, rule(at, low, high), colourResume, 3, []vg.Length{3, 8}, legend); err != nil {
			return err
		}
	}
	train := c.TrainLoss
	if len(train) == 0 {
		train = c.Steps
	}
	for _, l := range []struct {
		points []Point
		colour string
		width  vg.Length
		dashes []vg.Length
		legend string
	}{
		{rule(c.Best, low, high), colourBest, 3, []vg.Length{10, 10}, "best: epoch " + text.Decimal(c.Best, 2)},
		{c.Steps, colourSteps, 3, nil, ""},
		{train, colourTrain, 6, nil, "training"},
		{c.ValidationLoss, colourValidation, 6, nil, "validation"},
	} {
		if err := addLine(p, l.points, l.colour, l.width, l.dashes, l.legend); err != nil {
			return err
		}
	}
	if max(len(c.TrainLoss), len(c.ValidationLoss)) > fewDots { // they would hide each other
		return writePlot(w, p)
	}
	if err := addDots(p, c.TrainLoss, colourTrain, 9); err != nil {
		return err
	}
	if err := addDots(p, c.ValidationLoss, colourValidation, 9); err != nil {
		return err
	}
	return writePlot(w, p)
}

// rule is a vertical line at x, nothing where x is 0.
func rule(x, low, high float64) []Point {
	if x <= 0 {
		return nil
	}
	return []Point{{x, low}, {x, high}}
}
