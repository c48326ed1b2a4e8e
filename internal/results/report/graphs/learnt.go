package graphs

import (
	"fmt"
	"math"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/graph"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Learnt shows what the model knows of the graph.
type Learnt struct {
	Sentences []string
	Charts    []*chart.Chart
	Picture   *Picture
	// Surprising are test edges that the model did not expect, Likely are new ones.
	Surprising, Likely Pairs
	// Files are sentences about the tables that are delivered.
	Files []string
}

// Picture is the nodes in two dimensions with what the colours mean.
type Picture struct {
	Chart *chart.Chart
	Note  string
}

// Pairs is a table of pairs of nodes. Texts says that it has the column of texts.
type Pairs struct {
	Rows  []PairRow
	Texts bool
}

// PairRow is two nodes, their texts and the probability of an edge between them.
type PairRow struct{ Source, Target, Text, Probability string }

// NewLearnt is nil for other data, and where the result says nothing of it.
func NewLearnt(r *results.Result) *Learnt {
	g := r.Graph
	if g == nil {
		return nil
	}
	l := &Learnt{Picture: newPicture(g.Picture), Surprising: newPairs(g.Surprising), Likely: newPairs(g.Likely), Files: files(g)}
	if r.PredictsLinks() {
		l.Sentences = linkSentences(r)
	}
	for _, c := range []*chart.Chart{chart.Scores(g.Scores), chart.ScoresByDegree(g.ByDegree)} {
		if c != nil {
			l.Charts = append(l.Charts, c)
		}
	}
	if l.Picture == nil && len(l.Charts) == 0 && len(l.Surprising.Rows) == 0 && len(l.Likely.Rows) == 0 && len(l.Files) == 0 {
		return nil
	}
	return l
}

// linkSentences say in words how links are measured.
func linkSentences(r *results.Result) []string {
	g := r.Graph
	var out []string
	if g.Candidates > 0 {
		ranked := g.Ranked
		if ranked == 0 {
			ranked = g.Split.Test
		}
		out = append(out, fmt.Sprintf("%s ranked against %s without an edge from the same source. MRR is the mean of 1 / rank: "+
			"1 puts every true target first, and a random order has about %s. Pairs with equal scores share the mean of their ranks.",
			were(ranked, "test edge"), text.Count(g.Candidates, "pair"), text.Significant(math.Round(RandomMRR(g.Candidates)*1e4)/1e4)))
	}
	return append(out, "AUC, average precision and accuracy compare the test edges with as many random pairs. Most random pairs have no common neighbour, "+
		"so they are easy to tell: these figures flatter. A pair that somebody has a reason to ask about is harder.")
}

func were(n int64, thing string) string {
	if n == 1 {
		return "The " + thing + " was"
	}
	return "The " + text.Count(n, thing) + " were each"
}

// RandomMRR is the mean reciprocal rank of a random order of one right target and so many others.
func RandomMRR(others int64) float64 {
	n := float64(others + 1)
	if n < 50 {
		var sum float64
		for rank := 1.0; rank <= n; rank++ {
			sum += 1 / rank
		}
		return sum / n
	}
	const euler = 0.5772156649015329
	return (math.Log(n) + euler + 1/(2*n)) / n
}

func newPicture(p *graph.Picture) *Picture {
	c := chart.Embedding(p)
	if c == nil {
		return nil
	}
	note := map[string]string{
		graph.GroupedByLabel:     "A colour is a label. ",
		graph.GroupedByCommunity: "A colour is a community, which was found in the edges. ",
		graph.GroupedBySide:      "A colour is one of the two sorts of nodes. ",
	}[p.GroupedBy]
	note += "Near nodes are alike to the model."
	if p.Explained > 0 {
		note += fmt.Sprintf(" The two directions have %.0f %% of the variance of the vectors.", 100*min(1, p.Explained))
	}
	return &Picture{Chart: c, Note: note}
}

// maxPairs is how many pairs a table shows.
const maxPairs = 20

func newPairs(pairs []graph.Pair) Pairs {
	var table Pairs
	for _, p := range pairs[:min(len(pairs), maxPairs)] {
		row := PairRow{Source: name(p.Source), Target: name(p.Target), Probability: results.Figure("", p.Score)}
		if p.SourceText != "" || p.TargetText != "" {
			row.Text, table.Texts = text.Shorten(results.Plain(p.SourceText, "–"), 90)+" → "+text.Shorten(results.Plain(p.TargetText, "–"), 90), true
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func name(id string) string { return text.Shorten(results.Plain(id, "(empty)"), 60) }

// files says which tables a user gets.
func files(g *graph.Description) []string {
	var out []string
	if p := g.Predicted; p != nil && p.Rows > 0 {
		of := "each node"
		if !p.AllNodes {
			of = "the " + text.Count(p.Nodes, "node") + " of the highest degree"
		}
		out = append(out, fmt.Sprintf("predicted_links.csv has the %s likeliest new edges of %s, with their probabilities; it has no edge of the data.", text.Number(p.PerNode), of))
	}
	if e := g.Embeddings; e != nil {
		words := fmt.Sprintf("embeddings.parquet has the vectors of %s, %s numbers each (%s).", text.Count(e.Rows, "node"), text.Number(e.Width), text.Bytes(e.Bytes))
		if !e.Delivered {
			words = fmt.Sprintf("The vectors of %s (%s) are not delivered: %s.", text.Count(e.Rows, "node"), text.Bytes(e.Bytes),
				text.Shorten(results.Plain(trimDot(e.Why), "they are too large"), 300))
		}
		out = append(out, words)
	}
	if s := g.Stored; s != nil && !s.Delivered {
		out = append(out, fmt.Sprintf("The graph beside the model (%s) stays with the registered version, because it is large: model.zip has only what was learnt. ncsa.ray.predict reads both, and an export by ncsa.ray.runs has both.", text.Bytes(s.Bytes)))
	}
	return out
}

func trimDot(words string) string {
	for len(words) > 0 && (words[len(words)-1] == '.' || words[len(words)-1] == ' ') {
		words = words[:len(words)-1]
	}
	return words
}
