package chart

import (
	"math"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/text"
)

// span is the span of the values of lines, with some room and never empty.
func span(lines ...[]Point) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, line := range lines {
		for _, p := range line {
			low, high = min(low, p.Y), max(high, p.Y)
		}
	}
	if low > high {
		return 0, 1
	}
	room := max((high-low)*0.06, math.Abs(high)*5e-3, 1e-6)
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
	for i := math.Ceil(lo / step); i*step <= hi && i+1 > i && len(out) <= 2*n; i++ { // very large numbers have no neighbours to count to
		out = append(out, i*step+0) // the sum has no negative zero
	}
	return out
}

// maxDigits is how many significant digits the label of a tick has at most.
const maxDigits = 12

// tickLabels writes the values of an axis. They get more digits than usual where two would look the same.
func tickLabels(values []float64) []string {
	labels := make([]string, len(values))
	for i, v := range values {
		labels[i] = text.Significant(v)
	}
	for digits := 7; alike(labels) && digits <= maxDigits; digits++ {
		for i, v := range values {
			labels[i] = strconv.FormatFloat(v, 'g', digits, 64)
		}
	}
	return labels
}

// epochTicks are whole epochs, about six of them at most.
func epochTicks(epochs float64) []float64 {
	if epochs < 1 {
		return []float64{0}
	}
	var whole []float64
	for _, v := range niceTicks(0, epochs, 6) {
		if v == math.Trunc(v) {
			whole = append(whole, v)
		}
	}
	return whole
}

// round keeps four digits behind the point, which no picture shows more of.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// roundLoss is round for values of at least 0.1. A smaller one keeps four significant digits, so that a line of small losses is not
// flat.
func roundLoss(v float64) float64 {
	if size := math.Abs(v); size >= 0.1 || size == 0 {
		return round(v)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// diagonal is the range of both axes of a chart whose axes have the same unit.
func diagonal(points []Point) (low, high float64) {
	mirrored := make([]Point, len(points))
	for i, p := range points {
		mirrored[i] = Point{p.Y, p.X}
	}
	return span(points, mirrored)
}
