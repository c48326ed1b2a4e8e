package graph

// Description is the section graph of result.json. Edges are counted after loops and repeated edges were dropped.
type Description struct {
	Nodes int64 `json:"nodes"`
	// Edges counts each pair once where the graph has no direction.
	Edges    int64 `json:"edges"`
	Directed bool  `json:"directed"`
	// Reciprocity is the share of the edges in the files that are there in the other direction, too.
	Reciprocity *float64 `json:"reciprocity,omitempty"`
	// Loops, Duplicates, Reversed (in the other direction) and Unknown (of nodes that no file describes) are edges that were dropped.
	Loops      int64 `json:"loops"`
	Duplicates int64 `json:"duplicates"`
	Reversed   int64 `json:"reversed,omitempty"`
	Unknown    int64 `json:"unknown,omitempty"`
	// Components are the connected parts, LargestComponent the nodes of the largest one, Isolated the nodes without an edge.
	Components       int64 `json:"components"`
	LargestComponent int64 `json:"largest_component"`
	Isolated         int64 `json:"isolated"`
	// Features is how many numbers are known of each node, FeatureSource a sentence about what they are made of.
	Features      int64  `json:"features"`
	FeatureSource string `json:"feature_source,omitempty"`
	Weighted      bool   `json:"weighted"`
	// Homophily is the share of the edges whose two nodes have the same label, nil where nodes have none.
	Homophily *float64   `json:"homophily,omitempty"`
	Time      *Time      `json:"time,omitempty"`
	Bipartite *Bipartite `json:"bipartite,omitempty"`
	Degrees   *Bins      `json:"degrees,omitempty"`
	Split     Split      `json:"split,omitzero"`
	// Candidates is how many pairs without an edge each ranked test edge is compared with, Ranked how many test edges were ranked.
	Candidates int64     `json:"candidates_per_source,omitempty"`
	Ranked     int64     `json:"ranked,omitempty"`
	ByDegree   *ByDegree `json:"by_degree,omitempty"`
	Scores     *Scores   `json:"scores,omitempty"`
	Picture    *Picture  `json:"picture,omitempty"`
	// Surprising are test edges that the model thinks unlikely, Likely are the likeliest pairs without an edge.
	Surprising []Pair          `json:"surprising,omitempty"`
	Likely     []Pair          `json:"likely,omitempty"`
	Embeddings *Embeddings     `json:"embeddings,omitempty"`
	Predicted  *PredictedLinks `json:"predicted_links,omitempty"`
	Stored     *Stored         `json:"stored,omitempty"`
	Memory     *Memory         `json:"memory,omitempty"`
}

// Time says when the edges were made, in the words of the data. They are split by it: the test edges are those from TestFrom on.
type Time struct {
	Column         string `json:"column"`
	From           string `json:"from"`
	To             string `json:"to"`
	ValidationFrom string `json:"validation_from"`
	TestFrom       string `json:"test_from"`
}

// Bipartite is the nodes on each side of a graph whose edges lead from one sort of nodes to another.
type Bipartite struct {
	Sources      int64  `json:"sources"`
	Targets      int64  `json:"targets"`
	SourceColumn string `json:"source_column,omitempty"`
	TargetColumn string `json:"target_column,omitempty"`
}

// Bins counts values between neighbouring edges; there is one edge more than counts.
type Bins struct {
	Edges  []float64 `json:"edges"`
	Counts []int64   `json:"counts"`
}

// The ways of holding out edges or nodes.
const (
	ByRandom = "random"
	ByTime   = "time"
	ByGiven  = "given"
)

// Split is how the edges, or the nodes with a label, were held out.
type Split struct {
	By string `json:"by"`
	// Supervision is what the model learns to predict, Messages the edges along which it looks from a node to its neighbours.
	Supervision int64 `json:"supervision"`
	Messages    int64 `json:"messages"`
	Validation  int64 `json:"validation"`
	Test        int64 `json:"test"`
	// UnseenNodes are the nodes of test edges that have no training edge.
	UnseenNodes int64 `json:"unseen_nodes,omitempty"`
}

// ByDegree is a metric on test edges or nodes by their number of training edges.
type ByDegree struct {
	Metric string      `json:"metric"`
	Rows   []DegreeRow `json:"rows"`
}

// DegreeRow is the metric on the N test edges or nodes of degree From to To.
type DegreeRow struct {
	From  int64    `json:"from"`
	To    int64    `json:"to"`
	N     int64    `json:"n"`
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Bounds is the 95 % interval of the value, or the value twice.
func (r DegreeRow) Bounds() (low, high float64) {
	low, high = r.Value, r.Value
	if r.Low != nil {
		low = *r.Low
	}
	if r.High != nil {
		high = *r.High
	}
	return low, high
}

// Scores counts the probabilities of the test edges and of as many pairs without an edge between neighbouring Edges. From Threshold on a
// pair is called an edge.
type Scores struct {
	Edges     []float64 `json:"edges"`
	Positive  []int64   `json:"positive"`
	Negative  []int64   `json:"negative"`
	Threshold *float64  `json:"threshold,omitempty"`
}

// What the groups of a picture are.
const (
	GroupedByLabel     = "label"
	GroupedByCommunity = "community"
	GroupedBySide      = "side"
)

// Picture is the vectors of some nodes in two dimensions. A point is x, y and the place of its group in Groups, -1 for none.
type Picture struct {
	Points    [][]float64 `json:"points"`
	Groups    []string    `json:"groups"`
	GroupedBy string      `json:"grouped_by"`
	// Explained is the share of the variance that the two dimensions have.
	Explained float64 `json:"explained,omitempty"`
}

// Pair is two nodes by their ids and the probability of an edge between them. The texts are what the data says of the nodes, empty for
// nothing.
type Pair struct {
	Source     string  `json:"source"`
	Target     string  `json:"target"`
	Score      float64 `json:"score"`
	SourceText string  `json:"source_text,omitempty"`
	TargetText string  `json:"target_text,omitempty"`
}

// Embeddings is the table with the vectors of all nodes, and why it is not delivered where it is not.
type Embeddings struct {
	Rows      int64  `json:"rows"`
	Width     int64  `json:"width"`
	Bytes     int64  `json:"bytes"`
	Delivered bool   `json:"delivered"`
	Why       string `json:"why,omitempty"`
}

// PredictedLinks is the table with the likeliest new links of nodes: those of the highest degree where it does not have AllNodes.
type PredictedLinks struct {
	Nodes    int64 `json:"nodes"`
	Rows     int64 `json:"rows"`
	PerNode  int64 `json:"per_node"`
	AllNodes bool  `json:"all_nodes"`
}

// Stored is the graph beside the model, which predictions read. One that is not Delivered is with the registered version only.
type Stored struct {
	Bytes     int64 `json:"bytes"`
	Delivered bool  `json:"delivered"`
}

// Memory is what the workers of a machine were thought to need, the size of the files that they share, and what the largest worker needed.
type Memory struct {
	Estimate int64 `json:"estimate_bytes,omitempty"`
	Files    int64 `json:"files_bytes,omitempty"`
	Peak     int64 `json:"peak_bytes,omitempty"`
}

// Network is the section graph of a model.
type Network struct {
	Layers int64 `json:"layers"`
	// Hidden is the width of a layer.
	Hidden int64 `json:"hidden"`
	// Aggregation is how a layer puts the neighbours of a node together, Decoder how two vectors give the score of a pair; empty where nodes
	// are predicted.
	Aggregation string `json:"aggregation"`
	Decoder     string `json:"decoder"`
	// Features is how many numbers are read of each node.
	Features int64 `json:"features"`
	// Fanout is how many neighbours are drawn of a node in training, by layer.
	Fanout []int64 `json:"fanout,omitempty"`
}

// What a prediction is asked for.
const (
	AskedPairs = "pairs"
	AskedLinks = "links"
	AskedNodes = "nodes"
)

// Prediction is the section graph of a prediction.
type Prediction struct {
	Asked string `json:"asked"`
	// Known and New are the nodes that were asked about, Alone the new ones without an edge, Unknown the rows that were left out because
	// nothing is known of their nodes.
	Known   int64 `json:"known"`
	New     int64 `json:"new"`
	Alone   int64 `json:"alone,omitempty"`
	Unknown int64 `json:"unknown,omitempty"`
	// Edges of new nodes to others were read.
	Edges   int64 `json:"edges,omitempty"`
	PerNode int64 `json:"per_node,omitempty"`
	// Threshold is the probability from which a pair is called an edge.
	Threshold *float64 `json:"threshold,omitempty"`
}
