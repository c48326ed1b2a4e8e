package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	maxOutputs = 10_000
	maxPath    = 1024
	// maxOutputBytes bounds what a run may hand over in all. A sparse file takes no room, but the time to read it.
	maxOutputBytes = 64 << 30
	// OutDir is the folder below which everything lies that the trainer hands over, modelDir the one of the model,
	// baselineDir the one of the simple model and boardDir the one of TensorBoard's files.
	OutDir      = "out/"
	ModelDir    = "out/model/"
	BaselineDir = "out/baseline/"
	boardDir    = "out/tensorboard/"

	WeightsSuffix   = ".safetensors"
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
	if r.Schema != schemaVersion {
		return nil, fmt.Errorf("schema %d is not known", r.Schema)
	}
	if err := errors.Join(r.checkHead(), r.checkKind(), checkOutputs(r.Outputs)); err != nil {
		// One line, since users read it.
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return &r, nil
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

// checkHead checks what all kinds of results have.
func (r *Result) checkHead() error {
	if r.Run == "" || r.Attempt < 1 || r.Task == "" {
		return errors.New("run, attempt or task is missing")
	}
	if max(len(r.Run), len(r.Task), len(r.Metric)) > maxName {
		return errors.New("run, task or metric is too long")
	}
	for _, c := range r.Checks {
		if c.Level != LevelOK && c.Level != LevelWarning && c.Level != LevelError {
			return fmt.Errorf("a check of level %q is not known", text.Excerpt(c.Level, 40))
		}
	}
	return errors.Join(
		atMost("settings", len(r.Settings), maxList), atMost("checks", len(r.Checks), maxList),
		atMost("versions", len(r.Versions), maxList), atMost("warnings", len(r.Warnings), maxList),
		notNegative("the time", r.Seconds, r.EstimateSeconds),
		notNegative("the hardware", float64(r.Hardware.Cores), float64(r.Hardware.GPUs), float64(r.Hardware.MemoryBytes)),
	)
}

// checkKind checks what a result of its kind must have.
func (r *Result) checkKind() error {
	switch r.Kind {
	case ResultTraining:
		return errors.Join(r.checkScores(), r.checkModel(), r.Data.check(), r.Training.check(), r.checkTestRows(),
			r.Champion.check(), r.require("weights (out/model/*.safetensors)", isWeights))
	case ResultPrediction:
		return errors.Join(r.Prediction.check(), r.require(PredictionsFile, func(p string) bool { return p == PredictionsFile }))
	case ResultCheck:
		return r.Data.check()
	default:
		return fmt.Errorf("kind %q is not known", text.Excerpt(string(r.Kind), 40))
	}
}

// require refuses a result that hands over nothing of what it was made for.
func (r *Result) require(what string, is func(path string) bool) error {
	for _, o := range r.Outputs {
		if is(o.Path) {
			return nil
		}
	}
	return fmt.Errorf("there are no %s among the artifacts", what)
}

// checkOutputs checks the list of files: each path is local, below out/ and written in one way only, and each sha256 is one.
func checkOutputs(outputs []Output) error {
	if len(outputs) > maxOutputs {
		return fmt.Errorf("%d artifacts are too many", len(outputs))
	}
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
		if o.Size < 0 || !IsSHA256(o.SHA256) {
			return fmt.Errorf("artifact %q has no proper size or sha256", o.Path)
		}
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

func IsSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
