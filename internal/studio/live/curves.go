package live

import (
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ncsa/clowder-ray/internal/results"
)

const (
	// maxLines bounds the lines of a run. A script can report numbers under any name.
	maxLines = 32
	// maxKept is how many points of one line are kept; with more, every second one is left out.
	maxKept = 4000
	// snapshotPoints is how many points a snapshot has in all, and fewestPoints how many one of many lines has at least.
	snapshotPoints = 1000
	fewestPoints   = 40
	maxResumes     = 50
)

// Point is a place in a chart. X is a time in epochs, or a step for the numbers of a script.
type Point struct{ X, Y float64 }

// MarshalJSON writes the point as [x, y], no more exact than anybody sees.
func (p Point) MarshalJSON() ([]byte, error) {
	const digits = 7
	b := strconv.AppendFloat([]byte{'['}, p.X, 'g', digits, 64)
	b = strconv.AppendFloat(append(b, ','), p.Y, 'g', digits, 64)
	return append(b, ']'), nil
}

// Schema describes the point in the API.
func (Point) Schema(huma.Registry) *huma.Schema {
	two := 2
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeNumber}, MinItems: &two, MaxItems: &two}
}

// Curve is one line of a run.
type Curve struct {
	Name string `json:"name" doc:"loss, train/loss, validation/accuracy, learning_rate, or the name that a script gave"`
	// Chart is the title of the chart in which the line is drawn with others, Label its name in the legend.
	Chart string `json:"chart"`
	Label string `json:"label"`
	// Better says which values are better: "higher", "lower", or nothing.
	Better string  `json:"better,omitempty" enum:"higher,lower"`
	Points []Point `json:"points,omitempty" doc:"Pairs of epoch and value, or of step and value for a script"`
}

// drawn is a point that an event added to a line. New says that the line begins with it.
type drawn struct {
	line  *Curve
	point Point
	isNew bool
}

// curves are the lines of a run, folded from its events in their order.
type curves struct {
	epochs, steps int
	lines         []*Curve
	resumes       []float64
	metrics       results.MetricList
}

// add takes one more event into account and returns the points that it draws.
func (c *curves) add(e results.Event) []drawn {
	switch e.Kind {
	case results.KindProgress:
		c.epochs, c.steps = e.Epochs, e.Steps
		var out []drawn
		at := e.Fraction * float64(e.Epochs)
		if e.Loss != nil && e.Epochs > 0 {
			out = c.draw(out, Curve{Name: "loss", Chart: "Loss", Label: "training", Better: "lower"}, Point{at, *e.Loss})
		}
		if e.LearningRate != nil && e.Epochs > 0 {
			out = c.draw(out, Curve{Name: "learning_rate", Chart: "Learning rate", Label: "learning rate"}, Point{at, *e.LearningRate})
		}
		return out
	case results.KindMetrics:
		c.metrics = e.Described
	case results.KindEval:
		return c.evaluate(e)
	case results.KindResume:
		if len(c.resumes) < maxResumes {
			c.resumes = append(c.resumes, e.Epoch)
		}
	case results.KindScalar:
		return c.draw(nil, scalarLine(e.Name), Point{float64(e.Step), e.Value})
	default: // tells nothing that is drawn
	}
	return nil
}

func (c *curves) evaluate(e results.Event) []drawn {
	if e.Split != results.SplitTrain && e.Split != results.SplitValidation {
		return nil
	}
	var out []drawn
	at := e.Evaluated(c.epochs, c.steps)
	for name, value := range e.Metrics {
		switch {
		case e.Split == results.SplitTrain && name == "loss":
			out = c.draw(out, Curve{Name: "train/loss", Chart: "Loss", Label: "training, mean of each epoch", Better: "lower"}, Point{at, value})
		case e.Split == results.SplitValidation && name == "loss":
			out = c.draw(out, Curve{Name: "validation/loss", Chart: "Loss", Label: "validation", Better: "lower"}, Point{at, value})
		case e.Split == results.SplitValidation:
			out = c.draw(out, Curve{
				Name: "validation/" + results.Plain(name, "metric"), Chart: "Validation " + c.metrics.Named(name).Words(),
				Label: "validation", Better: string(c.metrics.Named(name).Direction),
			}, Point{at, value})
		}
	}
	slices.SortFunc(out, func(a, b drawn) int { return strings.Compare(a.line.Name, b.line.Name) })
	return out
}

// scalarLine is the line of a number that a script reports. Numbers whose names differ in the data that they are about share a chart.
func scalarLine(name string) Curve {
	name = results.Plain(name, "value")
	split := func(r rune) bool { return strings.ContainsRune("/_-. ", r) }
	words := slices.DeleteFunc(strings.FieldsFunc(name, split), func(word string) bool {
		return slices.Contains([]string{"train", "training", "val", "valid", "validation", "eval", "test"}, strings.ToLower(word))
	})
	line := Curve{Name: name, Label: name, Chart: strings.Join(words, " ")}
	if line.Chart == "" {
		line.Chart = name
	}
	if strings.Contains(strings.ToLower(name), "loss") {
		line.Better = "lower"
	}
	return line
}

// draw adds a point to the line with that name. Where a later attempt or a restart of the workers went back in time, the point replaces
// those from there on.
func (c *curves) draw(out []drawn, named Curve, p Point) []drawn {
	i := slices.IndexFunc(c.lines, func(l *Curve) bool { return l.Name == named.Name })
	isNew := i < 0
	if isNew {
		if len(c.lines) >= maxLines {
			return out
		}
		i = len(c.lines)
		c.lines = append(c.lines, &named)
	}
	line := c.lines[i]
	end := len(line.Points)
	for end > 0 && line.Points[end-1].X >= p.X {
		end--
	}
	line.Points = append(line.Points[:end], p)
	if len(line.Points) > maxKept {
		line.Points = thin(line.Points, maxKept/2)
	}
	return append(out, drawn{line, p, isNew})
}

// sample returns the lines with as many points in all as a picture needs.
func (c *curves) sample(points int) []Curve {
	out := make([]Curve, len(c.lines))
	for i, line := range c.lines {
		out[i] = *line
		out[i].Points = thin(line.Points, max(fewestPoints, points/len(c.lines)))
	}
	return out
}

// thin returns at most n points of a line: the first, the last, and of each stretch between them the lowest and the highest, so that no peak
// is lost.
func thin(points []Point, n int) []Point {
	if len(points) <= n || n < 4 {
		return slices.Clone(points)
	}
	out := append(make([]Point, 0, n), points[0])
	inner := points[1 : len(points)-1]
	buckets := (n - 2) / 2
	for i := range buckets {
		low, high := i*len(inner)/buckets, (i+1)*len(inner)/buckets
		least, most := low, low
		for j := low; j < high; j++ {
			if inner[j].Y < inner[least].Y {
				least = j
			}
			if inner[j].Y > inner[most].Y {
				most = j
			}
		}
		out = append(out, inner[min(least, most)])
		if least != most {
			out = append(out, inner[max(least, most)])
		}
	}
	return append(out, points[len(points)-1])
}
