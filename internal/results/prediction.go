package results

import (
	"fmt"

	"github.com/ncsa/clowder-ray/internal/results/graph"
)

// Prediction is what a batch prediction says of itself.
type Prediction struct {
	Model PredictionModel `json:"model,omitzero"`
	// Rows were predicted and Skipped could not be read.
	Rows         int      `json:"rows"`
	Skipped      int      `json:"skipped,omitempty"`
	Files        []string `json:"files"`
	InputColumns []string `json:"input_columns"`
	// Counts is how often each label was the answer (classification), Values the spread of the answers (regression).
	Counts map[string]int `json:"counts,omitempty"`
	Values *Histogram     `json:"values,omitempty"`
	// Unsure is the number of answers below MinConfidence.
	Unsure        int     `json:"unsure,omitempty"`
	MinConfidence float64 `json:"min_confidence,omitempty"`
	// LabelColumn, Scores and TrainedScores (on the model's own test rows) are set where the data has labels.
	LabelColumn   string    `json:"label_column,omitempty"`
	Scores        Scores    `json:"scores,omitempty"`
	TrainedScores Scores    `json:"trained_scores,omitempty"`
	Samples       []Example `json:"samples,omitempty"`
	// PerFile is the answer for each file where files are the examples.
	PerFile []FileAnswer `json:"per_file,omitempty"`
	// Graph is nil but for a model of nodes and edges.
	Graph *graph.Prediction `json:"graph,omitempty"`
}

// Unit is what was predicted: a row, or a pair or a node of a graph.
func (p *Prediction) Unit() string {
	switch {
	case p.Graph == nil:
		return "row"
	case p.Graph.Asked == graph.AskedPairs:
		return "pair"
	default:
		return "node"
	}
}

// PredictionModel is the model that predicted. Name and Version are empty for one that no registry knows.
type PredictionModel struct {
	Run     string   `json:"run,omitempty"`
	Name    string   `json:"name,omitempty"`
	Version int      `json:"version,omitempty"`
	Base    string   `json:"base,omitempty"`
	Labels  []string `json:"labels,omitempty"`
}

// FileAnswer is what the model says of one file. ID is the platform's.
type FileAnswer struct {
	File       string   `json:"file"`
	ID         string   `json:"id,omitempty"`
	Predicted  string   `json:"predicted"`
	Confidence *float64 `json:"confidence,omitempty"`
}

// Ref names the model for a person: "reviews/3", else its run or base.
func (m PredictionModel) Ref() string {
	switch {
	case m.Name != "" && m.Version > 0:
		return fmt.Sprintf("%s/%d", Plain(m.Name, ""), m.Version)
	case m.Run != "":
		return Plain(m.Run, "")
	default:
		return "the model " + Plain(m.Base, "of this dataset")
	}
}
