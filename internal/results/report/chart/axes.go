package chart

import (
	"math"
	"slices"
)

func xOf(points []Point) []float64 { return coordinate(points, func(p Point) float64 { return p.X }) }

func yOf(points []Point) []float64 { return coordinate(points, func(p Point) float64 { return p.Y }) }

func coordinate(points []Point, of func(Point) float64) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = of(p)
	}
	return out
}

// logAxis is a logarithmic axis around values above 0. Its marks are powers of ten, or between them where it is short.
func logAxis(values []float64) Axis {
	low, high := slices.Min(values)/1.3, slices.Max(values)*1.3
	axis := Axis{Low: low, High: high, Log: true}
	factors := []float64{1}
	if high < 30*low {
		factors = []float64{1, 2, 5}
	}
	from, to := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	step := 1 + (to-from)/7
	for e := from; e <= to; e += step {
		for _, f := range factors {
			if v := f * math.Pow(10, float64(e)); v >= low && v <= high {
				axis.Ticks = append(axis.Ticks, v)
			}
		}
	}
	return axis
}

// sameUnit are axes around points that have the same unit in both directions, and no marks: only the distances mean something.
func sameUnit(points []Point) (x, y Axis) {
	xs, ys := xOf(points), yOf(points)
	x, y = Axis{Low: slices.Min(xs), High: slices.Max(xs)}, Axis{Low: slices.Min(ys), High: slices.Max(ys)}
	const wide, room = float64(bareRight-bareLeft) / (bareBottom - bareTop), 1.05
	height := room * max(y.High-y.Low, (x.High-x.Low)/wide, 1e-9)
	width := height * wide
	middle := func(a Axis) float64 { return a.Low/2 + a.High/2 }
	x, y = Axis{Low: middle(x) - width/2, High: middle(x) + width/2}, Axis{Low: middle(y) - height/2, High: middle(y) + height/2}
	return x, y
}
