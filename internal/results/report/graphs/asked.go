package graphs

import (
	"fmt"

	"github.com/ncsa/clowder-ray/internal/results/graph"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Asked says what a prediction was asked, and what is known of the nodes; empty for other data.
func Asked(p *graph.Prediction) []Fact {
	if p == nil {
		return nil
	}
	question := "the label of each node"
	switch p.Asked {
	case graph.AskedPairs:
		question = "whether two nodes have an edge"
		if p.Threshold != nil {
			question += ": yes from a probability of " + text.Significant(*p.Threshold) + " on"
		}
	case graph.AskedLinks:
		question = fmt.Sprintf("the %s likeliest new edges of each node", text.Number(p.PerNode))
	}
	out := []Fact{{"Question", question}, {"Known nodes", fmt.Sprintf("%s of the trained graph, %s", text.Number(p.Known), text.Count(p.New, "new node"))}}
	if p.Edges > 0 {
		out = append(out, Fact{"Edges of new nodes", text.Number(p.Edges)})
	}
	if p.Alone > 0 {
		out = append(out, Fact{"Without an edge", text.Count(p.Alone, "new node") + ": only the features of these nodes were used"})
	}
	if p.Unknown > 0 {
		out = append(out, Fact{"Left out", text.Count(p.Unknown, "row") + " with an id that the trained graph does not have"})
	}
	return out
}
