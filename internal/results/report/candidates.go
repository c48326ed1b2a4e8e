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
	slices.SortStableFunc(trained, func(a, b results.Candidate) int { return cmp.Compare(lossOf(a), lossOf(b)) })
	metric, _, _ := headline(r)
	part.Table.Heads = []string{"Model", "Validation loss"}
	if metric != "loss" {
		part.Table.Heads = append(part.Table.Heads, "Validation "+results.MetricName(metric))
	}
	part.Table.Heads = append(part.Table.Heads, "Test "+results.MetricName(metric), "Time", "Parameters")
	for i, c := range trained {
		if c.Chosen {
			part.Delivered = i
		}
		part.Table.Rows = append(part.Table.Rows, candidateRow(c, metric))
	}
	part.Sentence = candidatesSentence(r, len(trained))
	return part
}

func candidateRow(c results.Candidate, metric string) []string {
	figure := func(name string) string {
		if v, ok := c.Validation[name]; ok {
			return results.Figure(name, v)
		}
		return "–"
	}
	row := []string{candidateName(c), figure("loss")}
	if metric != "loss" {
		row = append(row, figure(metric))
	}
	test := newScoreCell(c.Test, metric)
	if test.Interval != "" {
		test.Value += " (" + test.Interval + ")"
	}
	return append(row, test.Value, text.Duration(results.Seconds(c.Seconds)), text.Number(c.Parameters))
}

// candidatesSentence says how the delivered model was chosen.
func candidatesSentence(r *results.Result, trained int) string {
	c := r.Delivered()
	if trained < 2 {
		return "Only one model was trained: " + candidateName(*c) + "."
	}
	return fmt.Sprintf("%s were trained on the same rows. %s is delivered. %s The test rows had no part in this choice.",
		text.Count(trained, "model"), text.Capital(candidateName(*c)), results.Plain(c.Why, "It has the smallest validation loss."))
}

func candidateName(c results.Candidate) string {
	return text.Shorten(results.Plain(c.Title, results.Plain(c.Name, "unnamed")), 60)
}

// lossOf is the validation loss by which candidates are chosen.
func lossOf(c results.Candidate) float64 {
	if loss, ok := c.Validation["loss"]; ok {
		return loss
	}
	return math.Inf(1)
}
