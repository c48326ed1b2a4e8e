package results

import (
	"fmt"

	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Prediction is what a batch prediction says of itself.
type Prediction struct {
	Model PredictionModel `json:"model,omitzero"`
	// UnitName is what was predicted, empty for a row.
	UnitName string `json:"unit,omitempty" minLength:"1" maxLength:"20"`
	// Rows were predicted and Skipped could not be read.
	Rows         int      `json:"rows" minimum:"0" maximum:"1000000000000"`
	Skipped      int      `json:"skipped,omitempty" minimum:"0" maximum:"1000000000000"`
	Files        []string `json:"files" maxItems:"1000000"`
	InputColumns []string `json:"input_columns" maxItems:"10000"`
	// Counts is how often each label was the answer (classification), Values the spread of the answers (regression).
	Counts Counts     `json:"counts,omitempty" maxProperties:"10000"`
	Values *Histogram `json:"values,omitempty"`
	// Unsure is the number of answers below MinConfidence.
	Unsure        int     `json:"unsure,omitempty" minimum:"0"`
	MinConfidence float64 `json:"min_confidence,omitempty" minimum:"-1e-6" maximum:"1.000001"`
	// LabelColumn, Scores and TrainedScores (on the model's own test rows) are set where the data has labels.
	LabelColumn   string   `json:"label_column,omitempty"`
	Scores        Scores   `json:"scores,omitempty" maxProperties:"1000"`
	TrainedScores Scores   `json:"trained_scores,omitempty" maxProperties:"1000"`
	Samples       Answered `json:"samples,omitempty" maxItems:"100"`
	// PerFile is the answer for each file where files are the examples.
	PerFile []FileAnswer `json:"per_file,omitempty" maxItems:"10000"`
	// MeanConfidence is the mean probability of the answers, Mean the mean answer of a model of numbers.
	MeanConfidence *float64 `json:"mean_confidence,omitempty" minimum:"0" maximum:"1.000001"`
	Mean           *float64 `json:"mean,omitempty" minimum:"-1e300" maximum:"1e300"`
	// Unlike is how many rows are marked as unlike the training rows, nil where it was not looked.
	Unlike *int `json:"unlike,omitempty" minimum:"0" maximum:"1000000000000"`
	// NextLabels are files without a label whose label would teach the model most, the most useful first.
	NextLabels []FileAnswer `json:"next_labels,omitempty" maxItems:"40"`
	// LabelForm is how a label of NextLabels is written, nil for one of the classes.
	LabelForm *LabelForm `json:"label_form,omitempty"`
	// Facts are what else is to be said of the question.
	Facts []section.Fact `json:"facts,omitempty" maxItems:"60"`
}

// Unit is what was predicted: a row, or a pair or a node of a graph.
func (p *Prediction) Unit() string { return text.Shorten(Plain(p.UnitName, "row"), maxUnit) }

// PredictionModel is the model that predicted. Name and Version are empty for one that no registry knows.
type PredictionModel struct {
	_ struct{} `additionalProperties:"true"`

	Run     string   `json:"run,omitempty" maxLength:"4096"`
	Name    string   `json:"name,omitempty" maxLength:"4096"`
	Version int      `json:"version,omitempty" minimum:"0"`
	Base    string   `json:"base,omitempty" maxLength:"4096"`
	Labels  []string `json:"labels,omitempty" maxItems:"10000"`
}

// LabelForm is how people write a label that is not one class: a number, or several labels with Separator between them. None is the word for a row
// that has none of the labels.
type LabelForm struct {
	Number    bool   `json:"number,omitempty"`
	Separator string `json:"separator,omitempty" maxLength:"1"`
	None      string `json:"none,omitempty" maxLength:"20"`
}

// FileAnswer is what the model says of one file. ID is the platform's.
type FileAnswer struct {
	File       string   `json:"file"`
	ID         string   `json:"id,omitempty"`
	Predicted  string   `json:"predicted"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"-1e300" maximum:"1e300"`
	// Low and High are the ends of the interval of a number, and Possible the possible classes or labels, where the model promises them.
	Low      string `json:"low,omitempty"`
	High     string `json:"high,omitempty"`
	Possible string `json:"possible,omitempty"`
	// Version is the version of the file that the model read, 0 where the platform counts none. The service knows it, not the run.
	Version int `json:"-"`
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
