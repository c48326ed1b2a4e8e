package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/graph"
)

func TestMeanReciprocalRankOfARandomOrder(t *testing.T) {
	t.Parallel()
	for others, want := range map[int64]float64{0: 1, 1: 0.75, 2: (1 + 0.5 + 1.0/3) / 3, 48: 0.0914, 49: 0.0900, 1000: 0.00748} {
		require.InDelta(t, want, RandomMRR(others), 5e-5, others)
	}
}

// fact is the value of the fact of that name, empty where there is none.
func fact(facts []Fact, name string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func TestFactsOfAGraphInWords(t *testing.T) {
	t.Parallel()
	share := func(v float64) *float64 { return &v }
	for name, tc := range map[string]struct {
		task string
		g    graph.Description
		fact string
		want string
	}{
		"no direction":          {g: graph.Description{Edges: 1200}, fact: "Edges", want: "1,200 without a direction"},
		"a direction":           {g: graph.Description{Edges: 12, Directed: true, Weighted: true, Reciprocity: share(0.25)}, fact: "Edges", want: "12 with a direction, with weights; 25 % are there in the other direction, too"},
		"two sorts of nodes":    {g: graph.Description{Nodes: 9, Bipartite: &graph.Bipartite{Sources: 4, Targets: 5, SourceColumn: "user"}}, fact: "Nodes", want: "9 of two sorts: 4 (user) and 5 (targets)"},
		"nodes alone":           {g: graph.Description{Nodes: 9, Isolated: 1}, fact: "Nodes", want: "9, of which 1 has no edge"},
		"parts":                 {g: graph.Description{Nodes: 10, Components: 1, LargestComponent: 9}, fact: "Parts", want: "1 connected part; the largest has 90 % of the nodes"},
		"dropped edges":         {g: graph.Description{Loops: 1, Reversed: 4}, fact: "Dropped", want: "1 edge from a node to itself; 4 edges given in both directions"},
		"nothing dropped":       {g: graph.Description{}, fact: "Dropped", want: ""},
		"no features":           {g: graph.Description{}, fact: "Features", want: "none: the edges alone tell nodes apart"},
		"features":              {g: graph.Description{Features: 7}, fact: "Features", want: "7 for each node"},
		"neighbours alike":      {g: graph.Description{Homophily: share(0.9)}, fact: "Labels of neighbours", want: "90 % of the edges join nodes with the same label: neighbours say much about a label"},
		"neighbours different":  {g: graph.Description{Homophily: share(0.1)}, fact: "Labels of neighbours", want: "10 % of the edges join nodes with the same label: neighbours say little about a label"},
		"neighbours in between": {g: graph.Description{Homophily: share(0.5)}, fact: "Labels of neighbours", want: "50 % of the edges join nodes with the same label"},
		"held-out edges": {
			task: "link-prediction", g: graph.Description{Split: graph.Split{By: graph.ByRandom, Supervision: 80, Messages: 80, Validation: 10, Test: 10, UnseenNodes: 1}}, fact: "Held out",
			want: "10 edges for validation and 10 for the test, at random; no node sees a held-out edge, in either direction. The model looks along 80 training edges; 1 node of test edges has no training edge",
		},
		"held-out nodes": {
			task: "node-classification", g: graph.Description{Split: graph.Split{By: graph.ByGiven, Supervision: 80, Validation: 10, Test: 10}}, fact: "Held out",
			want: "10 nodes for validation and 10 for the test, as the data says; all edges are seen, and the labels of held-out nodes are not",
		},
		"memory": {g: graph.Description{Memory: &graph.Memory{Files: 2 << 20, Peak: 1 << 30}}, fact: "Memory", want: "2 MiB of graph, shared by the workers of a machine; the largest worker had 1 GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, fact(NewShape(&results.Result{Task: tc.task, Graph: &tc.g}).Facts, tc.fact))
		})
	}
	require.Nil(t, NewShape(&results.Result{}))
}

func TestFilesOfAGraphInWords(t *testing.T) {
	t.Parallel()
	l := NewLearnt(&results.Result{Task: "link-prediction", Graph: &graph.Description{
		Predicted:  &graph.PredictedLinks{Nodes: 10_000, Rows: 50_000, PerNode: 5},
		Embeddings: &graph.Embeddings{Rows: 3_000_000, Width: 128, Bytes: 800 << 20, Why: "It is larger than 100 MB. "},
		Stored:     &graph.Stored{Bytes: 2 << 30},
	}})
	require.Equal(t, []string{
		"predicted_links.csv has the 5 likeliest new edges of the 10,000 nodes of the highest degree, with their probabilities; it has no edge of the data.",
		"The vectors of 3,000,000 nodes (800 MiB) are not delivered: It is larger than 100 MB.",
		"The graph beside the model (2 GiB) stays with the registered version, because it is large: model.zip has only what was learnt. ncsa.ray.predict reads both, and an export by ncsa.ray.runs has both.",
	}, l.Files)
	require.Nil(t, NewLearnt(&results.Result{}), "other data")
	require.Nil(t, NewLearnt(&results.Result{Graph: &graph.Description{}}), "nothing was learnt")
}

func TestWhatAPredictionWasAsked(t *testing.T) {
	t.Parallel()
	half := 0.5
	for name, tc := range map[string]struct {
		asked graph.Prediction
		want  string
	}{
		"pairs": {graph.Prediction{Asked: graph.AskedPairs, Threshold: &half}, "whether two nodes have an edge: yes from a probability of 0.5 on"},
		"links": {graph.Prediction{Asked: graph.AskedLinks, PerNode: 3}, "the 3 likeliest new edges of each node"},
		"nodes": {graph.Prediction{Asked: graph.AskedNodes}, "the label of each node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, fact(Asked(&tc.asked), "Question"))
		})
	}
	require.Empty(t, Asked(nil))
}
