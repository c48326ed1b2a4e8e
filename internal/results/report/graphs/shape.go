package graphs

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/graph"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Fact is a name and what stands beside it.
type Fact struct{ Name, Value string }

// Shape shows what the graph is.
type Shape struct {
	Facts   []Fact
	Degrees *chart.Chart
}

// NewShape is nil for other data.
func NewShape(r *results.Result) *Shape {
	if r.Graph == nil {
		return nil
	}
	return &Shape{Facts: facts(r, r.Graph), Degrees: chart.DegreeDistribution(r.Graph.Degrees)}
}

func facts(r *results.Result, g *graph.Description) []Fact {
	out := []Fact{{"Nodes", nodes(g)}, {"Edges", edges(g)}}
	if g.Components > 0 {
		out = append(out, Fact{"Parts", fmt.Sprintf("%s; the largest has %.0f %% of the nodes", text.Count(g.Components, "connected part"), share(g.LargestComponent, g.Nodes))})
	}
	if dropped := dropped(g); dropped != "" && len(r.Data.Dropped) == 0 { // otherwise the data part has them
		out = append(out, Fact{"Dropped", dropped})
	}
	out = append(out, Fact{"Features", features(g)})
	if h := g.Homophily; h != nil {
		out = append(out, Fact{"Labels of neighbours", homophily(*h)})
	}
	if split := split(r, g); split != "" {
		out = append(out, Fact{"Held out", split})
	}
	if t := g.Time; t != nil {
		out = append(out, Fact{"Time", fmt.Sprintf("%s: training before %s, validation before %s, test up to %s",
			plain(t.Column), plain(t.ValidationFrom), plain(t.TestFrom), plain(t.To))})
	}
	if m := memory(g.Memory); m != "" {
		out = append(out, Fact{"Memory", m})
	}
	return out
}

func nodes(g *graph.Description) string {
	words := text.Number(g.Nodes)
	if b := g.Bipartite; b != nil {
		words += fmt.Sprintf(" of two sorts: %s (%s) and %s (%s)", text.Number(b.Sources), results.Plain(b.SourceColumn, "sources"),
			text.Number(b.Targets), results.Plain(b.TargetColumn, "targets"))
	}
	if g.Isolated > 0 {
		words += ", of which " + text.Number(g.Isolated) + have(g.Isolated) + "no edge"
	}
	return words
}

func edges(g *graph.Description) string {
	words := text.Number(g.Edges) + " without a direction"
	if g.Directed {
		words = text.Number(g.Edges) + " with a direction"
	}
	if g.Weighted {
		words += ", with weights"
	}
	if g.Directed && g.Reciprocity != nil {
		words += fmt.Sprintf("; %.0f %% are there in the other direction, too", 100**g.Reciprocity)
	}
	return words
}

// dropped names the edges of the files that are not in the graph.
func dropped(g *graph.Description) string {
	var parts []string
	for _, d := range []struct {
		n    int64
		what string
	}{
		{g.Loops, "from a node to itself"},
		{g.Duplicates, "given twice"},
		{g.Reversed, "given in both directions"},
		{g.Unknown, "of nodes that the file of nodes does not have"},
	} {
		if d.n > 0 {
			parts = append(parts, text.Count(d.n, "edge")+" "+d.what)
		}
	}
	return strings.Join(parts, "; ")
}

func features(g *graph.Description) string {
	switch {
	case g.Features == 0:
		return results.Plain(g.FeatureSource, "none: the edges alone tell nodes apart")
	case g.FeatureSource == "":
		return text.Number(g.Features) + " for each node"
	default:
		return plain(g.FeatureSource)
	}
}

// homophily says whether neighbours tell the label of a node.
func homophily(h float64) string {
	words := fmt.Sprintf("%.0f %% of the edges join nodes with the same label", 100*h)
	switch {
	case h >= alike:
		return words + ": neighbours say much about a label"
	case h <= different:
		return words + ": neighbours say little about a label"
	default:
		return words
	}
}

// The shares of edges within a label from which neighbours are said to tell much, and up to which they are said to tell little.
const (
	alike     = 0.7
	different = 0.3
)

func split(r *results.Result, g *graph.Description) string {
	s := g.Split
	if s.Supervision == 0 {
		return ""
	}
	how := map[string]string{graph.ByRandom: "at random", graph.ByTime: "by time", graph.ByGiven: "as the data says"}[s.By]
	unit := r.Unit()
	words := fmt.Sprintf("%s for validation and %s for the test, %s", text.Count(s.Validation, unit), text.Number(s.Test), results.Plain(how, "at random"))
	if r.PredictsLinks() {
		words += "; no node sees a held-out edge, in either direction. The model looks along " + text.Count(s.Messages, "training edge")
	} else {
		words += "; all edges are seen, and the labels of held-out nodes are not"
	}
	if s.UnseenNodes > 0 {
		words += "; " + text.Count(s.UnseenNodes, "node") + " of test edges" + have(s.UnseenNodes) + "no training edge"
	}
	return words
}

func memory(m *graph.Memory) string {
	if m == nil {
		return ""
	}
	var parts []string
	if m.Files > 0 {
		parts = append(parts, text.Bytes(m.Files)+" of graph, shared by the workers of a machine")
	}
	if m.Estimate > 0 {
		parts = append(parts, "estimated "+text.Bytes(m.Estimate)+" in all")
	}
	if m.Peak > 0 {
		parts = append(parts, "the largest worker had "+text.Bytes(m.Peak))
	}
	return strings.Join(parts, "; ")
}

// have is the verb behind a number of things.
func have(n int64) string {
	if n == 1 {
		return " has "
	}
	return " have "
}

// share is a part of a whole in percent.
func share(n, of int64) float64 { return 100 * float64(n) / float64(max(1, of)) }

func plain(words string) string { return results.Plain(words, "") }
