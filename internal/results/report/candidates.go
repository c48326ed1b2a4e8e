package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// candidatesPart compares the models that were trained on this data.
type candidatesPart struct {
	Sentence string
	Table    figureTable
	// Delivered is the row of the table with the delivered model.
	Delivered int
	// Left are the candidates that were not trained, with the reason.
	Left []pair
}

// newCandidatesPart is nil where there was nothing to compare.
func newCandidatesPart(r *results.Result) *candidatesPart {
	if len(r.Candidates) < 2 {
		return nil
	}
	var trained []results.Candidate
	part := &candidatesPart{}
	for _, c := range r.Candidates {
		if c.Trained() {
			trained = append(trained, c)
		} else {
			part.Left = append(part.Left, pair{candidateName(c), results.Plain(c.Why, "")})
		}
	}
	validation, test := candidateMetrics(r)
	slices.SortStableFunc(trained, func(a, b results.Candidate) int { return compareBy(validation[0], a, b) })
	part.Table.Heads = []string{"Model"}
	for _, metric := range validation {
		part.Table.Heads = append(part.Table.Heads, "Validation "+results.MetricName(metric))
	}
	for _, metric := range test {
		part.Table.Heads = append(part.Table.Heads, "Test "+results.MetricName(metric))
	}
	part.Table.Heads = append(part.Table.Heads, "Time", "Parameters")
	for i, c := range trained {
		if c.Chosen {
			part.Delivered = i
		}
		part.Table.Rows = append(part.Table.Rows, candidateRow(c, validation, test))
	}
	part.Sentence = candidatesSentence(r, len(trained))
	return part
}

// candidateMetrics are the metrics of the table. The first of the validation rows chose the model.
func candidateMetrics(r *results.Result) (validation, test []string) {
	metric, _, _ := headline(r)
	switch {
	case r.PredictsLinks():
		return []string{r.Metric}, []string{r.Metric, "hits_at_10", "auc", "average_precision"}
	case r.Graph != nil && r.Metric != metric:
		return []string{r.Metric, metric}, []string{metric}
	case r.Graph != nil:
		return []string{metric}, []string{metric}
	case metric == "loss":
		return []string{metric}, []string{metric}
	default:
		return []string{"loss", metric}, []string{metric}
	}
}

func candidateRow(c results.Candidate, validation, test []string) []string {
	row := []string{candidateName(c)}
	for _, name := range validation {
		figure := "–"
		if v, ok := c.Validation[name]; ok {
			figure = results.Figure(name, v)
		}
		row = append(row, figure)
	}
	for i, name := range test {
		cell := newScoreCell(c.Test, name)
		if cell.Interval != "" && i == 0 {
			cell.Value += " (" + cell.Interval + ")"
		}
		row = append(row, cell.Value)
	}
	return append(row, text.Duration(results.Seconds(c.Seconds)), text.Number(c.Parameters))
}

// candidatesSentence says how the delivered model was chosen.
func candidatesSentence(r *results.Result, trained int) string {
	c := r.Delivered()
	if trained < 2 {
		return "Only one model was trained: " + candidateName(*c) + "."
	}
	return fmt.Sprintf("%s were trained on the same %ss. %s is delivered. %s The test %ss had no part in this choice.",
		text.Count(trained, "model"), r.Unit(), text.Capital(candidateName(*c)), results.Plain(c.Why, "It has the smallest validation loss."), r.Unit())
}

func candidateName(c results.Candidate) string {
	return text.Shorten(results.Plain(c.Title, results.Plain(c.Name, "unnamed")), 60)
}

// compareBy orders candidates by a metric of the validation rows, the best first and those without it last.
func compareBy(metric string, a, b results.Candidate) int {
	value := func(c results.Candidate) float64 {
		v, ok := c.Validation[metric]
		switch {
		case !ok:
			return math.Inf(1)
		case results.LowerIsBetter(metric):
			return v
		default:
			return -v
		}
	}
	return cmp.Compare(value(a), value(b))
}
