package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	maxPath = 1024
	// maxOutputBytes bounds what a run may hand over in all. A sparse file takes no room, but the time to read it.
	maxOutputBytes = 64 << 30
	// OutDir is the folder of all files that the trainer hands over.
	OutDir = "out/"
	// ModelDir is the folder of the model.
	ModelDir = "out/model/"
	// AnswersDir is the folder of the answers of a prediction that are files of their own.
	AnswersDir = "out/answers/"
	// BaselineDir is the folder of the baseline model.
	BaselineDir = "out/baseline/"
	boardDir    = "out/tensorboard/"

	// WeightsSuffix ends the name of a file of weights.
	WeightsSuffix = ".safetensors"
	// PredictionsFile has a row for each prediction.
	PredictionsFile = OutDir + "predictions.csv"
)

// DecodeResult reads result.json and checks it against its contract. It does not look at the files that it names.
func DecodeResult(doc []byte) (*Result, error) {
	if err := checkShape(doc); err != nil {
		return nil, err
	}
	var r Result
	if err := json.Unmarshal(doc, &r); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	switch r.Schema {
	case schemaVersion:
	case earlierSchema:
		r.fromEarlier()
	default:
		return nil, fmt.Errorf("schema %d is not known", r.Schema)
	}
	r.Sections = section.Limited(r.Sections)
	if err := r.check(); err != nil {
		// One line, since users read it.
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return &r, nil
}

// check checks the sizes first: they bound what the schema is held against, and how many violations it can find. The schema says
// what each value may be, and what is left are the conditions that tie one value to another.
func (r *Result) check() error {
	if err := checkSizes(resultSchema, r); err != nil {
		return err
	}
	if err := r.checkParts(); err != nil {
		return err
	}
	slim := *r
	slim.Schema = schemaVersion // an earlier result was completed
	slim.Confusion = nil        // millions of numbers, which checkSizes has looked at
	slim.Script = r.Script.withoutPoints()
	slim.Settings = make([]Setting, len(r.Settings))
	for i, s := range r.Settings {
		slim.Settings[i] = Setting{Name: s.Name, Source: s.Source} // a value may be anything
	}
	if err := validate(resultSchema, slim); err != nil {
		return err
	}
	return errors.Join(r.checkScores(), r.checkCharts(), section.Check(r.Sections), r.checkImages(), r.checkRequiredOutputs(), checkOutputs(r.Outputs))
}

const (
	// maxContainers and maxValues bound the objects and lists of result.json, and its values: a confusion matrix of 2,000 classes
	// has four million. A short document of empty objects would else fill the memory when it is decoded.
	maxContainers = 200_000
	maxValues     = 5_000_000
)

// checkShape counts what would be decoded, without decoding it.
func checkShape(doc []byte) error {
	containers, values, inString := 0, 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			containers++
		case c == ',':
			values++
		}
	}
	if containers > maxContainers || values > maxValues {
		return fmt.Errorf("it has %d objects and lists and %d values, more than the %d and %d that are read", containers, values, maxContainers, maxValues)
	}
	return nil
}

// checkParts checks that a result has what a result of its kind is made for, and not what another kind has.
func (r *Result) checkParts() error {
	if r.Kind != ResultScript && (r.Partial || r.Script != nil) {
		return errors.New("only a script has the parts of a script")
	}
	switch r.Kind {
	case ResultTraining:
		switch {
		case r.Metric == "":
			return errors.New("the metric is missing")
		case r.Model.Kind == "":
			return errors.New("the model is missing")
		case r.Data.Rows.Train == 0:
			return errors.New("the training rows are missing")
		case r.Training.Workers == 0:
			return errors.New("the training is missing")
		}
	case ResultPrediction:
		if r.Prediction == nil {
			return errors.New("the prediction is missing")
		}
	case ResultCheck:
		if r.Data.Rows.Train == 0 {
			return errors.New("the training rows are missing")
		}
	case ResultScript:
		if r.Script == nil {
			return errors.New("the script is missing")
		}
	default:
		return fmt.Errorf("kind %q is not known", text.Excerpt(string(r.Kind), 40))
	}
	return nil
}

// checkRequiredOutputs refuses a result that hands over nothing of what it was made for.
func (r *Result) checkRequiredOutputs() error {
	has := func(is func(path string) bool) bool {
		return slices.ContainsFunc(r.Outputs, func(o Output) bool { return is(o.Path) })
	}
	switch {
	case r.Kind == ResultTraining && !has(isWeights):
		return errors.New("there are no weights (out/model/*.safetensors) among the artifacts")
	case r.Kind == ResultPrediction && !has(func(p string) bool { return p == PredictionsFile }):
		return fmt.Errorf("there is no %s among the artifacts", PredictionsFile)
	}
	return nil
}

// checkOutputs checks the list of files: each path is local, below out/ and written in one way only.
func checkOutputs(outputs []Output) error {
	seen := make(map[string]bool, len(outputs))
	var total int64
	for _, o := range outputs {
		if err := checkPath(o.Path); err != nil {
			return err
		}
		if seen[strings.ToLower(o.Path)] {
			return fmt.Errorf("artifact %q is named twice", o.Path)
		}
		seen[strings.ToLower(o.Path)] = true
		if total += min(o.Size, maxOutputBytes+1); total > maxOutputBytes {
			return fmt.Errorf("the artifacts have more than %s", text.Bytes(maxOutputBytes))
		}
	}
	return nil
}

func checkPath(p string) error {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }
	if len(p) > maxPath || !strings.HasPrefix(p, OutDir) || path.Clean(p) != p || !filepath.IsLocal(p) || strings.ContainsFunc(p, bad) {
		return fmt.Errorf("artifact path %q is not allowed", text.Shorten(p, 200))
	}
	return nil
}

func isWeights(p string) bool {
	return strings.HasPrefix(p, ModelDir) && path.Ext(p) == WeightsSuffix
}

// IsSHA256 reports whether s is a sha256 in lower-case hexadecimal digits.
func IsSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
