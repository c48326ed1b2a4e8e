package results

import (
	"strconv"
	"strings"
)

// chart is a line chart as the report's template draws it: all places are computed here, in units of the picture.
type chart struct {
	Title string
	// Width and Height are of the picture, Left … Bottom of the area within its axes.
	Width, Height            int
	Left, Right, Top, Bottom float64
	XTicks, YTicks           []mark
	Lines                    []chartLine
	// Best is where the best epoch is marked, nil where it is not.
	Best *mark
	// Summary says in words what is drawn, for those who do not see it.
	Summary string
}

// mark is a labelled place on an axis.
type mark struct {
	At    float64
	Label string
	// Anchor is where the label's text begins: start, middle or end.
	Anchor string
}

// chartLine is one line of a chart.
type chartLine struct {
	Name   string
	Class  string
	Points string
	Dots   []point
	// Legend is where its entry stands.
	Legend mark
}

// The picture is small, so that its letters are legible where Clowder shows it 320 pixels wide.
const (
	chartWidth  = 420
	chartHeight = 268
)

func newChart(title string, c curves, lines ...namedLine) *chart {
	var all [][]point
	for _, l := range lines {
		all = append(all, l.points)
	}
	low, high := span(all...)
	ch := &chart{Title: title, Width: chartWidth, Height: chartHeight, Left: 46, Right: chartWidth - 12, Top: 40, Bottom: chartHeight - 42}
	epochs := max(1, c.Epochs)
	x := func(v float64) float64 { return px(ch.Left + (ch.Right-ch.Left)*v/epochs) }
	y := func(v float64) float64 { return px(ch.Bottom - (ch.Bottom-ch.Top)*(v-low)/(high-low)) }
	for _, v := range epochTicks(0, epochs, 6) {
		ch.XTicks = append(ch.XTicks, mark{At: x(v), Label: trim(v)})
	}
	for _, v := range niceTicks(low, high, 5) {
		ch.YTicks = append(ch.YTicks, mark{At: y(v), Label: trim(v)})
	}
	legend := ch.Left
	for _, l := range lines {
		if len(l.points) == 0 {
			continue
		}
		line := chartLine{Name: l.name, Class: l.class, Legend: mark{At: legend}}
		if l.name != "" {
			legend += 34 + 9.5*float64(len(l.name))
		}
		var b strings.Builder
		for _, p := range l.points {
			b.WriteString(strconv.FormatFloat(x(p.X), 'f', -1, 64) + "," + strconv.FormatFloat(y(p.Y), 'f', -1, 64) + " ")
			if l.dots && len(l.points) <= 60 {
				line.Dots = append(line.Dots, point{x(p.X), y(p.Y)})
			}
		}
		line.Points = strings.TrimSpace(b.String())
		ch.Lines = append(ch.Lines, line)
	}
	if c.Best > 0 && c.Best <= epochs {
		ch.Best = &mark{At: x(c.Best), Label: "best", Anchor: "start"}
		if c.Best > epochs*0.8 {
			ch.Best.Anchor = "end"
		}
	}
	return ch
}

// namedLine is a line to draw; one without a name is not in the legend.
type namedLine struct {
	name, class string
	points      []point
	dots        bool
}

// px rounds to a tenth of a unit, which nobody sees.
func px(v float64) float64 { return float64(int(v*10+0.5)) / 10 }

// lossChart and metricChart are nil where there is nothing to draw.
func lossChart(c curves) *chart {
	if c.empty() {
		return nil
	}
	steps := namedLine{class: "steps", points: c.Steps}
	if len(c.TrainLoss) == 0 {
		steps.name = "training"
	}
	ch := newChart("Loss (lower is better)", c, steps,
		namedLine{"training", "train", c.TrainLoss, true}, namedLine{"validation", "valid", c.ValidationLoss, true})
	ch.Summary = describe("Training loss", firstOf(c.TrainLoss, c.Steps)) + " " + describe("Validation loss", c.ValidationLoss)
	return ch
}

func metricChart(c curves) *chart {
	if len(c.Metric) == 0 || c.MetricName == "loss" {
		return nil
	}
	ch := newChart("Validation "+strings.ToLower(title(c.MetricName))+" (higher is better)", c, namedLine{"validation", "valid", c.Metric, true})
	ch.Summary = describe("Validation "+title(c.MetricName), c.Metric)
	return ch
}

func firstOf(lines ...[]point) []point {
	for _, l := range lines {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

func describe(name string, line []point) string {
	if len(line) == 0 {
		return ""
	}
	return name + " from " + figure(line[0].Y) + " to " + figure(line[len(line)-1].Y) + "."
}
