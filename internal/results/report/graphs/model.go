package graphs

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// LinkOutput is what a model of links answers.
func LinkOutput(r *results.Result) string {
	if r.IsEstimator() {
		return "the probability of an edge between two nodes"
	}
	return "the probability of an edge between two nodes, and a vector for each node"
}

// Origin says what the delivered model is made of.
func Origin(r *results.Result) string {
	if r.IsEstimator() {
		c := r.Delivered()
		return results.Plain(c.Title, c.Name) + ", fitted to this data alone"
	}
	base := results.Plain(r.Model.Base, "")
	if n := r.Model.Graph; n != nil {
		base += fmt.Sprintf(" with %s of %s units, %s of the neighbours", text.Count(n.Layers, "layer"), text.Number(n.Hidden), results.Plain(n.Aggregation, "mean"))
		if n.Decoder != "" {
			base += ", decoder " + results.Plain(n.Decoder, "")
		}
	}
	base += ", trained from random weights"
	if c := r.Delivered(); c != nil && c.Sort != results.SortNetwork {
		base = results.Plain(c.Title, c.Name) + "; " + base
	}
	return base
}

// Reads says what the model takes.
func Reads(m results.Model) string {
	n := m.Graph
	if n == nil {
		return "a graph: nodes with their neighbours"
	}
	what := "a learnt vector for each node; it cannot answer for nodes that it has not seen"
	if n.Features > 0 {
		what = text.Count(n.Features, "number") + " for each node"
		if len(m.Columns) > 0 {
			what += ", from the columns " + text.ListSome(m.Columns, 30, 60)
		}
	}
	return fmt.Sprintf("a graph: nodes with their neighbours up to %s away, and %s", text.Count(n.Layers, "step"), what)
}

// Limits is what the model card adds for links, which are guesses; empty for other tasks.
func Limits(r *results.Result) string {
	if !r.PredictsLinks() {
		return ""
	}
	said := []string{" A predicted edge is a guess from the pattern of the known edges, not a finding.", "Where nodes are people, it is a claim about persons."}
	if g := r.Graph; g != nil && g.Time == nil {
		said = append(said, "The test edges were drawn at random: edges of the future may be harder to predict.")
	}
	return strings.Join(said, " ")
}
