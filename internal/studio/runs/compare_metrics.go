package runs

import (
	"maps"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
)

// MetricDifference is a metric of all runs, on the test rows.
type MetricDifference struct {
	Metric        string       `json:"metric"`
	Title         string       `json:"title"`
	LowerIsBetter bool         `json:"lower_is_better"`
	Cells         []MetricCell `json:"values"`
}

// MetricCell is the score of one run. Figure is nil where it has none.
type MetricCell struct {
	Figure *Figure `json:"score,omitempty"`
	// Difference is the value minus that of the first run, nil for the first one and where either has no score.
	Difference *float64 `json:"difference,omitempty"`
	// Judgement is better, worse or equal by the metric's direction; empty where the test rows differ.
	Judgement string `json:"judgement,omitempty"`
	// Overlap says that the 95 % intervals of both have values in common.
	Overlap bool `json:"intervals_overlap,omitempty"`
	// Change is the difference with its sign in words.
	Change string `json:"-"`
}

// The judgements of a difference.
const (
	judgedBetter = "better"
	judgedWorse  = "worse"
	judgedEqual  = "equal"
)

// compareMetrics puts the test scores of all runs side by side, the one that a person asks for first at the top.
func compareMetrics(list []compared, same bool) []MetricDifference {
	var order []string
	for _, c := range list {
		if c.result == nil {
			continue
		}
		if f := figureOf(c.result); f != nil && f.Over == overTest && !slices.Contains(order, f.Metric) {
			order = append(order, f.Metric)
		}
	}
	rest := map[string]bool{}
	for _, c := range list {
		if c.result != nil {
			for metric := range c.result.Metrics.Test {
				rest[metric] = !slices.Contains(order, metric)
			}
		}
	}
	for _, metric := range slices.Sorted(maps.Keys(rest)) {
		if rest[metric] {
			order = append(order, metric)
		}
	}
	var out []MetricDifference
	for _, metric := range order {
		m := described(list, metric)
		d := MetricDifference{Metric: metric, Title: m.Head(), LowerIsBetter: m.LowerIsBetter()}
		for i, c := range list {
			var cell MetricCell
			if c.result != nil {
				if s, ok := c.result.Metrics.Test[metric]; ok {
					cell.Figure = newFigure(m, s, overTest)
				}
			}
			if i > 0 {
				cell.judge(d.Cells[0].Figure, same)
			}
			d.Cells = append(d.Cells, cell)
		}
		out = append(out, d)
	}
	return out
}

// described is a metric as the first run that has it says.
func described(list []compared, name string) results.Metric {
	for _, c := range list {
		if c.result == nil {
			continue
		}
		if i := slices.IndexFunc(c.result.Described, func(m results.Metric) bool { return m.Name == name }); i >= 0 {
			return c.result.Described[i]
		}
	}
	return results.Named(name)
}

// judge compares the score with that of the first run.
func (c *MetricCell) judge(first *Figure, same bool) {
	if c.Figure == nil || first == nil {
		return
	}
	difference := c.Figure.Value - first.Value
	c.Difference = &difference
	words := c.Figure.described.Figure(max(difference, -difference))
	switch {
	case difference > 0:
		c.Change = "+" + words
	case difference < 0:
		c.Change = "−" + words
	default:
		c.Change = "±0"
	}
	if !same {
		return
	}
	switch {
	case difference == 0:
		c.Judgement = judgedEqual
	case c.Figure.described.IsBetter(c.Figure.Value, first.Value):
		c.Judgement = judgedBetter
	default:
		c.Judgement = judgedWorse
	}
	if a, b := c.Figure, first; difference != 0 && a.Low != nil && a.High != nil && b.Low != nil && b.High != nil {
		c.Overlap = *a.Low <= *b.High && *b.Low <= *a.High
	}
}
