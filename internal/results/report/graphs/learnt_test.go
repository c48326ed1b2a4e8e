package graphs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/graph"
)

// links is a result of a model of links on this graph.
func links(g graph.Description) *results.Result {
	return &results.Result{Task: results.TaskLinks, Graph: &g}
}

func TestHowLinksAreMeasuredInWords(t *testing.T) {
	t.Parallel()
	picture := &graph.Picture{Points: [][]float64{{0, 1, -1}, {1, 0, -1}}}
	stored := &graph.Stored{Bytes: 1}
	for name, tc := range map[string]struct {
		g    graph.Description
		want []string // how the sentences begin
	}{
		"each test edge": {
			graph.Description{Candidates: 1, Split: graph.Split{Test: 1200}, Stored: stored},
			[]string{"The 1,200 test edges were each ranked against 1 pair without an edge from the same source. MRR is the mean of 1 / rank: " +
				"1 puts every true target first, and a random order has about 0.75.", "AUC, average precision"},
		},
		"a part of the test edges": {
			graph.Description{Candidates: 49, Ranked: 100, Split: graph.Split{Test: 1200}, Stored: stored},
			[]string{"The 100 test edges were each ranked against 49 pairs", "AUC, average precision"},
		},
		"one test edge": {
			graph.Description{Candidates: 49, Ranked: 1, Picture: picture, Stored: stored},
			[]string{"The test edge was ranked against 49 pairs", "AUC, average precision"},
		},
		"nothing was ranked": {graph.Description{Stored: stored}, []string{"AUC, average precision"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := NewLearnt(links(tc.g)).Sentences
			require.Len(t, said, len(tc.want))
			for i, want := range tc.want {
				require.True(t, strings.HasPrefix(said[i], want), said[i])
			}
		})
	}
	nodes := NewLearnt(&results.Result{Task: "node-classification", Graph: &graph.Description{Candidates: 49, Stored: stored}})
	require.Empty(t, nodes.Sentences, "a model of labels has no rank")
}

func TestTheColoursOfAPictureAreExplained(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]string{
		graph.GroupedByLabel: "A colour is a label. Near", graph.GroupedByCommunity: "A colour is a community, which was found in the edges. Near",
		graph.GroupedBySide: "A colour is one of the two sorts of nodes. Near", "": "Near", "something newer": "Near",
	} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			p := newPicture(&graph.Picture{Points: [][]float64{{0, 1, 0}, {1, 0, 0}, {2, 2, -1}}, Groups: []string{"a"}, GroupedBy: by, Explained: 1.0001})
			require.NotNil(t, p)
			require.True(t, strings.HasPrefix(p.Note, want), p.Note)
			require.True(t, strings.HasSuffix(p.Note, "have 100 % of the variance of the vectors."), p.Note)
		})
	}
	require.Nil(t, newPicture(nil))
}

func TestPairsOfNodesAreShownInATable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 200)
	for name, tc := range map[string]struct {
		pair  graph.Pair
		want  PairRow
		texts bool
	}{
		"ids alone":          {graph.Pair{Source: "a", Target: "b", Score: 0.25}, PairRow{Source: "a", Target: "b", Probability: "0.250"}, false},
		"an empty id":        {graph.Pair{Target: "b"}, PairRow{Source: "(empty)", Target: "b", Probability: "0.000"}, false},
		"a text of one node": {graph.Pair{Source: "a", Target: "b", TargetText: "x\ny"}, PairRow{Source: "a", Target: "b", Text: "– → x y", Probability: "0.000"}, true},
		"long words": {
			graph.Pair{Source: long, Target: "b", SourceText: long, TargetText: "t"},
			PairRow{Source: strings.Repeat("ü", 59) + "…", Target: "b", Text: strings.Repeat("ü", 89) + "… → t", Probability: "0.000"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, Pairs{Rows: []PairRow{tc.want}, Texts: tc.texts}, newPairs([]graph.Pair{tc.pair}))
		})
	}
	require.Empty(t, newPairs(nil).Rows)
	many := newPairs(make([]graph.Pair, maxPairs+5))
	require.Len(t, many.Rows, maxPairs, "a report has the first pairs, the table has all")
}

func TestTablesOfAGraphAreNamedWhereTheyAreDelivered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		g    graph.Description
		want []string
	}{
		"links of all nodes": {
			graph.Description{Predicted: &graph.PredictedLinks{Rows: 9, PerNode: 3, AllNodes: true}},
			[]string{"predicted_links.csv has the 3 likeliest new edges of each node, with their probabilities; it has no edge of the data."},
		},
		"no link to predict": {graph.Description{Predicted: &graph.PredictedLinks{PerNode: 3}}, nil},
		"vectors": {
			graph.Description{Embeddings: &graph.Embeddings{Rows: 1, Width: 128, Bytes: 1 << 20, Delivered: true}},
			[]string{"embeddings.parquet has the vectors of 1 node, 128 numbers each (1 MiB)."},
		},
		"vectors that stay, for no reason": {
			graph.Description{Embeddings: &graph.Embeddings{Rows: 2, Bytes: 1 << 20, Why: " . "}},
			[]string{"The vectors of 2 nodes (1 MiB) are not delivered: they are too large."},
		},
		"a graph in the model": {graph.Description{Stored: &graph.Stored{Bytes: 1 << 20, Delivered: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, files(&tc.g))
		})
	}
}

func TestAModelOfAGraphSaysWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	network := results.Model{Base: "GraphSAGE", Graph: &graph.Network{Layers: 2, Hidden: 1024, Decoder: "dot"}}
	neighbours := results.Candidate{Name: "common_neighbours", Title: "Common neighbours", Sort: "heuristic", Chosen: true}
	fused := results.Candidate{Name: "fusion", Title: "Network and heuristics", Sort: "fusion", Chosen: true}
	built := "GraphSAGE with 2 layers of 1,024 units, mean of the neighbours, decoder dot, trained from random weights"
	for name, tc := range map[string]struct {
		model      results.Model
		candidates []results.Candidate
		origin     string
		vectors    bool
	}{
		"a network":           {network, nil, built, true},
		"a network that won":  {network, []results.Candidate{{Name: "network", Sort: results.SortNetwork, Chosen: true}}, built, true},
		"a simple model":      {network, []results.Candidate{neighbours}, "Common neighbours, fitted to this data alone", false},
		"one without a title": {network, []results.Candidate{{Name: "adamic_adar", Sort: "heuristic", Chosen: true}}, "adamic_adar, fitted to this data alone", false},
		"both together":       {network, []results.Candidate{fused}, "Network and heuristics; " + built, true},
		"an earlier result":   {results.Model{Base: "GraphSAGE"}, nil, "GraphSAGE, trained from random weights", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{Task: results.TaskLinks, Model: tc.model, Candidates: tc.candidates}
			require.Equal(t, tc.origin, Origin(r))
			require.Equal(t, tc.vectors, strings.Contains(LinkOutput(r), "a vector for each node"))
		})
	}
}

func TestAModelOfAGraphSaysWhatItReads(t *testing.T) {
	t.Parallel()
	columns := make([]string, 32)
	for i := range columns {
		columns[i] = fmt.Sprint("c", i)
	}
	for name, tc := range map[string]struct {
		model results.Model
		want  []string
	}{
		"an earlier result": {results.Model{}, []string{"a graph: nodes with their neighbours"}},
		"edges alone": {
			results.Model{Graph: &graph.Network{Layers: 1}}, []string{"up to 1 step away", "it cannot answer for nodes that it has not seen"},
		},
		"numbers":      {results.Model{Graph: &graph.Network{Layers: 2, Features: 7}}, []string{"up to 2 steps away, and 7 numbers for each node"}},
		"many columns": {results.Model{Graph: &graph.Network{Layers: 2, Features: 32}, Columns: columns}, []string{"from the columns c0, c1", "2 more"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, want := range tc.want {
				require.Contains(t, Reads(tc.model), want)
			}
		})
	}
}

func TestTheLimitsOfPredictedLinksAreSaid(t *testing.T) {
	t.Parallel()
	const future = "edges of the future may be harder to predict"
	require.Contains(t, Limits(links(graph.Description{})), future)
	byTime := Limits(links(graph.Description{Time: &graph.Time{Column: "year"}}))
	require.Contains(t, byTime, "it is a claim about persons")
	require.NotContains(t, byTime, future, "these test edges are of the future")
	require.Empty(t, Limits(&results.Result{Task: "node-classification", Graph: &graph.Description{}}))
}

func TestFactsOfAPredictionAreLeftOutWhereNothingIsToSay(t *testing.T) {
	t.Parallel()
	all := Asked(&graph.Prediction{Asked: graph.AskedNodes, Known: 1200, New: 1, Alone: 1, Unknown: 2, Edges: 3})
	require.Equal(t, "1,200 of the trained graph, 1 new node", fact(all, "Known nodes"))
	require.Equal(t, "3", fact(all, "Edges of new nodes"))
	require.Equal(t, "1 new node: only the features of these nodes were used", fact(all, "Without an edge"))
	require.Equal(t, "2 rows with an id that the trained graph does not have", fact(all, "Left out"))
	require.Len(t, Asked(&graph.Prediction{Asked: graph.AskedNodes}), 2)
}
