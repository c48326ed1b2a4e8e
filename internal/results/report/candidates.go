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
	slices.SortStableFunc(trained, func(a, b results.Candidate) int { return compareBy(r.Named(validation[0]), a, b) })
	part.Table.Heads = []string{"Model"}
	for _, metric := range validation {
		part.Table.Heads = append(part.Table.Heads, "Validation "+r.Named(metric).Words())
	}
	for _, metric := range test {
		part.Table.Heads = append(part.Table.Heads, "Test "+r.Named(metric).Words())
	}
	part.Table.Heads = append(part.Table.Heads, "Time", "Parameters")
	for i, c := range trained {
		if c.Chosen {
			part.Delivered = i
		}
		part.Table.Rows = append(part.Table.Rows, candidateRow(r, c, validation, test))
	}
	part.Sentence = candidatesSentence(r, len(trained))
	return part
}

// maxCandidateMetrics is how many metrics of the test rows the table has.
const maxCandidateMetrics = 4

// candidateMetrics are the metrics of the table: on the validation rows the one by which the candidates were compared and the headline, on
// the test rows the headline and those that grade a model.
func candidateMetrics(r *results.Result) (validation, test []string) {
	metric, _, _ := headline(r)
	validation, test = []string{cmp.Or(r.ChosenBy, "loss")}, []string{metric}
	if validation[0] != metric {
		validation = append(validation, metric)
	}
	for _, m := range r.Described {
		if m.Judges && len(test) < maxCandidateMetrics && !slices.Contains(test, m.Name) {
			test = append(test, m.Name)
		}
	}
	return validation, test
}

func candidateRow(r *results.Result, c results.Candidate, validation, test []string) []string {
	row := []string{candidateName(c)}
	for _, name := range validation {
		figure := "–"
		if v, ok := c.Validation[name]; ok {
			figure = r.Named(name).Figure(v)
		}
		row = append(row, figure)
	}
	for i, name := range test {
		cell := newScoreCell(c.Test, r.Named(name))
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
func compareBy(m results.Metric, a, b results.Candidate) int {
	value := func(c results.Candidate) float64 {
		v, ok := c.Validation[m.Name]
		switch {
		case !ok:
			return math.Inf(1)
		case m.LowerIsBetter():
			return v
		default:
			return -v
		}
	}
	return cmp.Compare(value(a), value(b))
}
