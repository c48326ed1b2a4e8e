package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Parallel is the trials of a search in parallel coordinates: an axis for each option that was searched and one for the loss, and a
// line for each trial. All places are in units of the picture.
type Parallel struct {
	Title, Summary string
	Width, Height  int
	Axes           []parallelAxis
	Lines          []parallelLine
}

// parallelAxis is a vertical axis. Its name stands at NameY, its highest value above it and its lowest below it.
type parallelAxis struct {
	X, Top, Bottom float64
	Name           string
	NameY, HighY   float64
	LowY           float64
	High, Low      string
	Anchor         string
	values         map[int]float64 // by the number of the trial, 0..1
}

// parallelLine is one trial. Title says its settings.
type parallelLine struct{ Points, Class, Title string }

const (
	maxAxes        = 5 // beside the one of the loss; the names of more could not be read
	parallelTop    = 94
	parallelBottom = 250
	parallelHeight = 282
	// manyTimes is from which ratio of its ends an axis is logarithmic.
	manyTimes = 10
)

// Trials draws the trials of a search, nil where there is nothing to compare.
func Trials(s *results.Search) *Parallel {
	var measured []results.Trial
	for _, t := range s.Trials {
		if t.Loss != nil {
			measured = append(measured, t)
		}
	}
	names := searched(s)
	if len(measured) < 2 || len(names) == 0 {
		return nil
	}
	p := &Parallel{Title: "Trials by their settings", Width: svgWidth, Height: parallelHeight}
	for _, name := range names[:min(len(names), maxAxes)] {
		p.Axes = append(p.Axes, newAxis(name, measured, func(t results.Trial) any {
			if v, ok := t.Settings[name]; ok {
				return v
			}
			return s.Repeat[name]
		}))
	}
	p.Axes = append(p.Axes, newAxis("loss", measured, func(t results.Trial) any { return *t.Loss }))
	p.place()
	for _, t := range measured {
		p.Lines = append(p.Lines, p.line(t, s))
	}
	// The lines that matter are drawn over the others.
	slices.SortStableFunc(p.Lines, func(a, b parallelLine) int { return rank(a.Class) - rank(b.Class) })
	for i, name := range names {
		names[i] = results.Plain(name, "an option")
	}
	p.Summary = fmt.Sprintf("%s over %s and the validation loss; the table has the values.", text.Count(len(measured), "trial"), text.ListSome(names, maxAxes, 40))
	return p
}

func rank(class string) int {
	return slices.Index([]string{"steps", "chance", "valid", "train"}, class)
}

// searched are the names of the options in which trials differ, in their order.
func searched(s *results.Search) []string {
	var names []string
	for _, t := range s.Trials {
		for name := range t.Settings {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// newAxis places the values of the trials on an axis: numbers by their size, other values by their order.
func newAxis(name string, trials []results.Trial, value func(results.Trial) any) parallelAxis {
	a := parallelAxis{Name: text.Shorten(results.Plain(name, ""), 20), values: map[int]float64{}}
	numbers := map[int]float64{}
	var words []string
	for _, t := range trials {
		v := value(t)
		if n, ok := v.(float64); ok && !math.IsInf(n, 0) {
			numbers[t.Number] = n
		}
		words = append(words, spelled(v))
	}
	if len(numbers) < len(trials) {
		sorted := slices.Compact(slices.Sorted(slices.Values(words)))
		for i, t := range trials {
			a.values[t.Number] = float64(slices.Index(sorted, words[i])) / float64(max(1, len(sorted)-1))
		}
		a.Low, a.High = sorted[0], sorted[len(sorted)-1]
		return a
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, n := range numbers {
		low, high = min(low, n), max(high, n)
	}
	scale := func(v float64) float64 { return v }
	if low > 0 && high >= manyTimes*low {
		scale = math.Log
	}
	for number, n := range numbers {
		a.values[number] = 0.5
		if high > low {
			a.values[number] = (scale(n) - scale(low)) / (scale(high) - scale(low))
		}
	}
	a.Low, a.High = short(low), short(high)
	return a
}

// spelled is a value that is no number, in at most ten characters.
func spelled(v any) string {
	if v == nil {
		return "–"
	}
	return text.Shorten(results.Plain(fmt.Sprint(v), "–"), 10)
}

// short writes a number with three significant digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// place spreads the axes over the picture. Names stand in two rows by turns, so that they do not cover each other.
func (p *Parallel) place() {
	const left, right = 14.0, svgWidth - 14.0
	for i := range p.Axes {
		a := &p.Axes[i]
		a.X = Tenth(left + (right-left)*float64(i)/float64(len(p.Axes)-1))
		a.Top, a.Bottom, a.HighY, a.LowY = parallelTop, parallelBottom, parallelTop-8, parallelBottom+20
		a.NameY = 36 + 19*float64(i%2)
		a.Anchor = "middle"
		switch i {
		case 0:
			a.Anchor = "start"
			a.X = left
		case len(p.Axes) - 1:
			a.Anchor = "end"
		}
	}
}

func (p *Parallel) line(t results.Trial, s *results.Search) parallelLine {
	l := parallelLine{Class: "steps", Title: fmt.Sprintf("Trial %d: loss %s", t.Number, short(*t.Loss))}
	switch {
	case t.Number == s.Chosen && s.DefaultModel == "":
		l.Class = "train"
	case s.Best != nil && t.Number == *s.Best:
		l.Class = "valid"
	case t.Default:
		l.Class = "chance"
	}
	var b strings.Builder
	for _, a := range p.Axes {
		y := Tenth(a.Bottom - (a.Bottom-a.Top)*a.values[t.Number])
		b.WriteString(strconv.FormatFloat(a.X, 'f', -1, 64) + "," + strconv.FormatFloat(y, 'f', -1, 64) + " ")
	}
	l.Points = strings.TrimSpace(b.String())
	return l
}

// TrialLoss draws the validation losses of the default settings and of the best other trial, nil without them.
func TrialLoss(s *results.Search) *Chart {
	var lines [][]Point
	var epochs float64
	for _, c := range s.Curves {
		var points []Point
		for _, p := range c.Points {
			points = append(points, Point{p[0], p[2]})
			epochs = max(epochs, p[0])
		}
		lines = append(lines, points)
	}
	if len(lines) == 0 || epochs == 0 {
		return nil
	}
	low, high := span(lines...)
	c := &Chart{
		Title: "Validation loss of the finalists", XLabel: "epoch", YLabel: "loss",
		X: Axis{Low: 0, High: epochs, Ticks: epochTicks(epochs)}, Y: Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)},
	}
	for i, curve := range s.Curves {
		name, line := "trial "+strconv.Itoa(curve.Number), styleValidation
		if curve.Number == 0 {
			name, line = "default", styleTrain
		}
		c.line(name, line, lines[i], true)
		c.Summary = strings.TrimSpace(c.Summary + " " + describe(text.Capital(name), lines[i]))
	}
	return c
}
