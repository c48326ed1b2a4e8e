// Package results is the contract with the trainer: the files that it leaves in a run folder, read and checked. These are the
// result (result.json), the failure (error.json), the events (events.jsonl), the logs and the files that the result names.
//
// A result that Read returns is complete and verified: every file that it names is there, with the size and the sha256 that it
// names. Everything else is an error, never an empty success.
//
// The run folder is not trusted, because a program that ran elsewhere on data of other people wrote it. Every size is bounded,
// every path stays below the run folder, and every text is made plain before it is shown. docs/security.md says why.
package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/ncsa/clowder-ray/internal/results/section"
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
	Schema   int        `json:"schema" enum:"3"`
	Kind     ResultKind `json:"kind" enum:"training,check,prediction,script"`
	Run      string     `json:"run" minLength:"1" maxLength:"4096"`
	Attempt  int        `json:"attempt" minimum:"1"`
	Task     string     `json:"task" minLength:"1" maxLength:"4096"`
	Settings []Setting  `json:"settings" maxItems:"1000"`
	// Checks are what was looked at before the run, the good news too.
	Checks []Check `json:"checks" maxItems:"1000"`
	// Seconds is counted from the driver's start, EstimateSeconds is what the training was thought to take.
	Seconds         float64           `json:"seconds" minimum:"0" maximum:"1e300"`
	EstimateSeconds float64           `json:"estimate_seconds,omitempty" minimum:"0" maximum:"1e300"`
	Hardware        Hardware          `json:"hardware,omitzero"`
	Versions        map[string]string `json:"versions,omitempty" maxProperties:"1000"`
	Warnings        []Warning         `json:"warnings,omitempty" maxItems:"1000"`

	// Described are the metrics of this result, the one that a person asks for first at the top. ChosenBy is the one by which the candidates
	// were compared, empty for the loss.
	Described MetricList `json:"metric_info,omitempty" maxItems:"64"`
	ChosenBy  string     `json:"chosen_by,omitempty" maxLength:"4096"`
	// UnitName is what an example is called, empty for a row.
	UnitName string `json:"unit,omitempty" minLength:"1" maxLength:"20"`

	// Metric is the one by which the best model was chosen. BestEpoch is a fraction where evaluations lie inside an epoch.
	Metric    string   `json:"metric,omitempty" maxLength:"4096"`
	BestEpoch float64  `json:"best_epoch,omitempty" minimum:"0"`
	BestStep  int      `json:"best_step,omitempty" minimum:"0"`
	Metrics   Metrics  `json:"metrics,omitzero"`
	Model     Model    `json:"model,omitzero"`
	Data      Data     `json:"data,omitzero"`
	Training  Training `json:"training,omitzero"`
	Usage     Usage    `json:"usage,omitzero"`

	// Confusion counts the test rows by true label (rows) and predicted label (columns), in the order of Model.Labels.
	Confusion   Confusion    `json:"confusion,omitempty" maxItems:"10000"`
	Calibration *Calibration `json:"calibration,omitempty"`
	Binary      *Binary      `json:"binary,omitempty"`
	Regression  *Regression  `json:"regression,omitempty"`
	// Mistakes are the most confident errors on the test rows (regression: the largest), Unsure the least sure answers.
	Mistakes Mistakes `json:"mistakes,omitempty" maxItems:"100"`
	Unsure   Unsure   `json:"unsure,omitempty" maxItems:"100"`
	// Examples are whole test rows of texts, tables and images, to try the model with. It is empty in results of v0.1.0.
	Examples []WholeExample `json:"examples,omitempty" maxItems:"100"`
	// Sections are what the kind of data says of the data and of the model.
	Sections []section.Section `json:"sections,omitempty"`
	Champion *Champion         `json:"champion,omitempty"`
	// Candidates are the models that were trained on this data, and those that were left out. It is empty in results of v0.1.0.
	Candidates []Candidate `json:"candidates,omitempty" maxItems:"100"`
	// Search is nil where the settings were not searched.
	Search     *Search     `json:"search,omitempty"`
	Prediction *Prediction `json:"prediction,omitempty"`

	// Script is set for a script. Partial says that it failed, and that this is what it left.
	Script  *Script `json:"script,omitempty"`
	Partial bool    `json:"partial,omitempty" enum:"true"`

	Outputs []Output `json:"artifacts" maxItems:"10000"`
}

// Setting is an option as it was used, and where its value came from.
type Setting struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	// Source is SourceChosen where the value was left to the trainer, which found it.
	Source string `json:"source" enum:"form,more options,settings file,dataset,administrator,default,chosen"`
}

// SourceChosen marks a setting that was left to the trainer, which found the value.
const SourceChosen = "chosen"

// Check is one thing that was looked at before the run.
type Check struct {
	Code  string `json:"code" pattern:"^[a-z_]+$"`
	Level string `json:"level" enum:"ok,warning,error"`
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
	_ struct{} `additionalProperties:"true"`

	CPU         string `json:"cpu,omitempty"`
	Cores       int    `json:"cores,omitempty" minimum:"0"`
	MemoryBytes int64  `json:"memory_bytes,omitempty" minimum:"0"`
	GPU         string `json:"gpu,omitempty"`
	GPUs        int    `json:"gpus,omitempty" minimum:"0"`
}

// Example is one row of the data that is shown to a person.
type Example struct {
	File string `json:"file"`
	// Row is its number in the file, 0 where the file is the example.
	Row     int    `json:"row" minimum:"0"`
	Content string `json:"content"`
	// Image is a PNG in base64, empty for none.
	Image      string   `json:"image,omitempty"`
	Label      string   `json:"label,omitempty"`
	Predicted  string   `json:"predicted,omitempty"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"-1e300" maximum:"1e300"`
	// LabelDoubted says that two models, which learnt in different ways, give the same other label: the label may be wrong.
	LabelDoubted bool `json:"label_doubted,omitempty"`
}

// WholeExample is a test row with all that a model reads of it.
type WholeExample struct {
	// As is how the model did on it: ExampleRight, ExampleWrong, ExampleUnsure, or ExampleRow for regression.
	As string `json:"as" enum:"right,wrong,unsure,row"`
	// Input has the text, the cells that are not empty, or an image in base64, by the names of the inputs.
	Input     map[string]string `json:"input" maxProperties:"10000"`
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
	Edges  []float64 `json:"edges" maxItems:"1001" minimum:"-1e300" maximum:"1e300"`
	Counts []int     `json:"counts" maxItems:"1000" minimum:"0" maximum:"1000000000000"`
	Unit   string    `json:"unit,omitempty"`
	// Cut is where longer values were cut, 0 for nowhere.
	Cut float64 `json:"cut,omitempty" minimum:"-1e300" maximum:"1e300"`
}

// Output is a file that the trainer made, with its path relative to the run folder.
type Output struct {
	// Path is below out/, with slashes and without segments of dots.
	Path   string `json:"path"`
	Size   int64  `json:"size" minimum:"0"`
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
	// Title and Text describe a file that the user gets as it is, empty for others. OfModel says that it is a part of the model, so that
	// those who want the report alone do not get it. Apart says that a file of the model stays with the registered version. Shown says that
	// a file with a title is a PNG that is also to be seen where the results are.
	Title   string `json:"title,omitempty" maxLength:"4096"`
	Text    string `json:"text,omitempty" maxLength:"4096"`
	OfModel bool   `json:"of_model,omitempty"`
	Apart   bool   `json:"apart,omitempty"`
	Shown   bool   `json:"shown,omitempty"`
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
