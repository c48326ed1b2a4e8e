package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Settings are the checked parameters of a job. The named fields are those that the service itself uses, each empty where the form
// of the job's extractor has no such field. All fields of the form, which the trainer gets, are in Values.
//
// In JSON settings are the object of Values, as in records of every version.
type Settings struct {
	// RunName is what the user called the run.
	RunName string
	// RegisterAs is the name under which a training's model is to be registered, as far as the form says.
	RegisterAs string
	// LabelFrom names the metadata of files that holds their labels, as far as the form says, such as metadata.species.
	LabelFrom string
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
)

// NewSettings reads the named settings out of the checked values of a form.
func NewSettings(values map[string]any) Settings {
	s := Settings{
		RunName: textOf(values, "run_name"), RegisterAs: textOf(values, "output.register_as"),
		Model: textOf(values, "model"), ModelFile: textOf(values, "model_file"), Write: textOf(values, "write"),
		Workers: int(cmp.Or(wholeOf(values, "num_workers"), wholeOf(values, "nodes"))), GPU: textOf(values, "use_gpu") == "yes", Profile: textOf(values, "profile"),
		MaxDuration: time.Duration(wholeOf(values, "max_minutes")) * time.Minute,
		Action:      textOf(values, "action"), Run: textOf(values, "run"),
		Values: values,
	}
	if s.Profile == autoProfile {
		s.Profile = ""
	}
	if s.RegisterAs == "" {
		s.RegisterAs = option(textOf(values, "more_options"), "output", "register_as")
	}
	if s.LabelFrom = textOf(values, "data.label_from"); s.LabelFrom == "" {
		s.LabelFrom = option(textOf(values, "more_options"), "data", "label_from")
	}
	return s
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

func textOf(values map[string]any, name string) string {
	text, _ := values[name].(string)
	return text
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

// option finds one option of a group in a text of options, one per line: "name: value" or "name = value", where # begins a comment. The
// trainer reads the same text by the same rules and reports what is wrong in it.
func option(options, group, wanted string) string {
	for line := range strings.Lines(options) {
		line, _, _ = strings.Cut(line, "#")
		at := strings.IndexAny(line, ":=")
		if at < 0 {
			continue
		}
		if name := strings.TrimSpace(line[:at]); name == wanted || name == group+"."+wanted {
			return strings.Trim(strings.TrimSpace(line[at+1:]), `"'`)
		}
	}
	return ""
}
