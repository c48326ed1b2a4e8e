package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Settings are the checked parameters of a job. The named fields are those that the service itself uses. They say what the form says until
// the files of the dataset are staged, and then what counts of all sources. All fields of the form are in Values.
//
// In JSON settings are the object of Values, as in records of every version.
type Settings struct {
	// RunName is what the user called the run.
	RunName string
	// RegisterAs is the name under which a training's model is to be registered.
	RegisterAs string
	// LabelFrom names the metadata of files that holds their labels, such as metadata.species.
	LabelFrom string
	// Datasets names the datasets that a training reads besides its own; see clowder.ParseSelections.
	Datasets string
	// Model names a registered model to predict with, ModelFile the id of a model.zip in the dataset.
	Model, ModelFile string
	// Write says where predictions go: a file, the metadata of each file, or both.
	Write string
	// Workers, GPU and Profile say what the job needs on Ray. Workers of a script are machines. An empty profile leaves the choice to the service.
	Workers int
	GPU     bool
	Profile string
	// MaxDuration is the longest time that the training may take; 0 is no limit.
	MaxDuration time.Duration
	// DryRun says that the data is only checked.
	DryRun bool
	// Action and Run say what a request about runs asks for, and about which run or model; Run may be empty.
	Action, Run string

	// Values has every field of the form by its name: text, bool, int64 or float64, or float64 for each number read from JSON.
	Values map[string]any
}

// The values of the form's field "write" that add predictions to the metadata of files.
const (
	writeMetadata = "metadata"
	writeBoth     = "both"
	// autoProfile is the profile that leaves the choice to the service.
	autoProfile = "auto"
	profile     = "profile"
)

// NewSettings reads the named settings out of the checked values of a form.
func NewSettings(values map[string]any) Settings {
	s := Settings{
		RunName: lineOf(values, "run_name"), RegisterAs: lineOf(values, "output.register_as"), LabelFrom: lineOf(values, "data.label_from"),
		Datasets: textOf(values, "data.datasets"),
		Model:    textOf(values, "model"), ModelFile: textOf(values, "model_file"), Write: textOf(values, "write"),
		Workers: int(cmp.Or(wholeOf(values, "num_workers"), wholeOf(values, "nodes"))), GPU: textOf(values, "use_gpu") == "yes", Profile: textOf(values, profile),
		MaxDuration: time.Duration(wholeOf(values, "max_minutes")) * time.Minute, DryRun: values["dry_run"] == true,
		Action: textOf(values, "action"), Run: textOf(values, "run"),
		Values: values,
	}
	if s.Profile == autoProfile {
		s.Profile = ""
	}
	return s
}

// Resolved returns the settings with what counts of all sources of a kind of job.
func (s Settings) Resolved(kind Work, r options.Resolved) Settings {
	values := maps.Clone(s.Values)
	for _, o := range options.Of(string(kind)).All() {
		if !o.Service || o.Name == profile { // the service chooses the profile before there are files
			continue
		}
		full, value := o.Name, o.Default
		if o.Group != "" {
			full = o.Group + "." + o.Name
		}
		if set, ok := r.Values[o.Name]; ok {
			value = set
		}
		values[full] = value
	}
	out := NewSettings(values)
	out.Values = s.Values
	return out
}

// WritesMetadata reports whether each predicted file gets its prediction as metadata.
func (s Settings) WritesMetadata() bool { return s.Write == writeMetadata || s.Write == writeBoth }

// IsZero reports whether there are no settings, as in the record of a job whose parameters were not checked yet.
func (s Settings) IsZero() bool { return len(s.Values) == 0 }

// MarshalJSON writes the values.
func (s Settings) MarshalJSON() ([]byte, error) { return json.Marshal(s.Values) }

// UnmarshalJSON reads the values of a record.
func (s *Settings) UnmarshalJSON(doc []byte) error {
	var values map[string]any
	if err := json.Unmarshal(doc, &values); err != nil {
		return fmt.Errorf("decode the settings of the job: %w", err)
	}
	*s = NewSettings(values)
	return nil
}

// lineOf returns a text as it is shown in a line: a settings file may have control characters and line breaks in it.
func lineOf(values map[string]any, name string) string { return text.OneLine(textOf(values, name)) }

func textOf(values map[string]any, name string) string {
	value, _ := values[name].(string)
	return value
}

// wholeOf returns a whole number, which comes as int64 from the form and as float64 from JSON.
func wholeOf(values map[string]any, name string) int64 {
	switch n := values[name].(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	default:
		return 0
	}
}
