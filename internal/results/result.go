package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/ncsa/clowder-ray/internal/results/graph"
)

// ResultKind says what a run was.
type ResultKind string

// The kinds of results.
const (
	// ResultTraining made a model.
	ResultTraining ResultKind = "training"
	// ResultCheck looked at data and settings and trained nothing.
	ResultCheck ResultKind = "check"
	// ResultPrediction used an earlier model on new data.
	ResultPrediction ResultKind = "prediction"
	// ResultScript ran a script of a user.
	ResultScript ResultKind = "script"
)

// Result is result.json: what a run that succeeded says of itself. trainer/schema/result.schema.json is its contract. Which
// parts are set depends on Kind: a training has Metrics, Model, Data and Training, a check has Data, a prediction Prediction, a script Script.
type Result struct {
	Schema   int        `json:"schema"`
	Kind     ResultKind `json:"kind"`
	Run      string     `json:"run"`
	Attempt  int        `json:"attempt"`
	Task     string     `json:"task"`
	Settings []Setting  `json:"settings"`
	// Checks are what was looked at before the run, the good news too.
	Checks []Check `json:"checks"`
	// Seconds is counted from the driver's start, EstimateSeconds is what the training was thought to take.
	Seconds         float64           `json:"seconds"`
	EstimateSeconds float64           `json:"estimate_seconds,omitempty"`
	Hardware        Hardware          `json:"hardware,omitzero"`
	Versions        map[string]string `json:"versions,omitempty"`
	Warnings        []Warning         `json:"warnings,omitempty"`

	// Metric is the one by which the best model was chosen. BestEpoch is a fraction where evaluations lie inside an epoch.
	Metric    string   `json:"metric,omitempty"`
	BestEpoch float64  `json:"best_epoch,omitempty"`
	BestStep  int      `json:"best_step,omitempty"`
	Metrics   Metrics  `json:"metrics,omitzero"`
	Model     Model    `json:"model,omitzero"`
	Data      Data     `json:"data,omitzero"`
	Training  Training `json:"training,omitzero"`

	// Confusion counts the test rows by true label (rows) and predicted label (columns), in the order of Model.Labels.
	Confusion   [][]int      `json:"confusion,omitempty"`
	Calibration *Calibration `json:"calibration,omitempty"`
	Binary      *Binary      `json:"binary,omitempty"`
	Regression  *Regression  `json:"regression,omitempty"`
	// Mistakes are the most confident errors on the test rows (regression: the largest), Unsure the least sure answers.
	Mistakes []Example `json:"mistakes,omitempty"`
	Unsure   []Example `json:"unsure,omitempty"`
	// Examples are whole test rows of texts, tables and images, to try the model with. It is empty in results of v0.1.0.
	Examples []WholeExample `json:"examples,omitempty"`
	// Entities is set for models of tagged words.
	Entities *Entities `json:"entities,omitempty"`
	// LabelSets is set where rows have several labels.
	LabelSets *LabelSets `json:"label_sets,omitempty"`
	Champion  *Champion  `json:"champion,omitempty"`
	// Candidates are the models that were trained on this data, and those that were left out. It is empty in results of v0.1.0.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Language is nil but for a language model.
	Language *Language `json:"language,omitempty"`
	// Search is nil where the settings were not searched.
	Search *Search `json:"search,omitempty"`
	// Graph is nil but for a model of nodes and edges.
	Graph *graph.Description `json:"graph,omitempty"`

	Prediction *Prediction `json:"prediction,omitempty"`

	// Script is set for a script. Partial says that it failed, and that this is what it left.
	Script  *Script `json:"script,omitempty"`
	Partial bool    `json:"partial,omitempty"`

	Outputs []Output `json:"artifacts"`
}

// Setting is an option as it was used, and where its value came from.
type Setting struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Source string `json:"source"`
}

// SourceChosen marks a setting that was left to the trainer, which found the value.
const SourceChosen = "chosen"

// Check is one thing that was looked at before the run.
type Check struct {
	Code  string `json:"code"`
	Level string `json:"level"`
	Text  string `json:"text"`
}

// The levels of a check.
const (
	LevelOK      = "ok"
	LevelWarning = "warning"
	LevelError   = "error"
)

// Hardware is the machine of the driver.
type Hardware struct {
	CPU         string `json:"cpu,omitempty"`
	Cores       int    `json:"cores,omitempty"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	GPU         string `json:"gpu,omitempty"`
	GPUs        int    `json:"gpus,omitempty"`
}

// Example is one row of the data that is shown to a person.
type Example struct {
	File string `json:"file"`
	// Row is its number in the file, 0 where the file is the example.
	Row     int    `json:"row"`
	Content string `json:"content"`
	// Image is a PNG in base64, empty for none.
	Image      string   `json:"image,omitempty"`
	Label      string   `json:"label,omitempty"`
	Predicted  string   `json:"predicted,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// LabelDoubted says that two models, which learnt in different ways, give the same other label: the label may be wrong.
	LabelDoubted bool `json:"label_doubted,omitempty"`
}

// WholeExample is a test row with all that a model reads of it.
type WholeExample struct {
	// As is how the model did on it: ExampleRight, ExampleWrong, ExampleUnsure, or ExampleRow for regression.
	As string `json:"as"`
	// Input has the text, the cells that are not empty, or an image in base64, by the names of the inputs.
	Input     map[string]string `json:"input"`
	Label     string            `json:"label"`
	Predicted string            `json:"predicted"`
}

// How a model did on a WholeExample.
const (
	ExampleRight  = "right"
	ExampleWrong  = "wrong"
	ExampleUnsure = "unsure"
	ExampleRow    = "row"
)

// Histogram counts values between neighbouring edges; there is one edge more than counts.
type Histogram struct {
	Edges  []float64 `json:"edges"`
	Counts []int     `json:"counts"`
	Unit   string    `json:"unit,omitempty"`
	// Cut is where longer values were cut, 0 for nowhere.
	Cut float64 `json:"cut,omitempty"`
}

// Output is a file that the trainer made, with its path relative to the run folder.
type Output struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Output returns the file with the given path.
func (r *Result) Output(p string) (Output, bool) {
	for _, o := range r.Outputs {
		if o.Path == p {
			return o, true
		}
	}
	return Output{}, false
}

// Setting is the value of an option that is a text, empty for the usual.
func (r *Result) Setting(name string) string {
	for _, s := range r.Settings {
		if words, ok := s.Value.(string); ok && s.Name == name {
			return words
		}
	}
	return ""
}

// WriteJSON writes v for people and programs: indented, keys of maps in order, no escaped angle brackets.
func WriteJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err := w.Write(buf.Bytes())
	return err
}
