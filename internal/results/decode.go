package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxOutputs = 10_000
	maxLabels  = 10_000
	maxPath    = 1024
	// outDir is the folder below which everything lies that the trainer hands over, modelDir the one of the model.
	outDir   = "out/"
	modelDir = "out/model/"
)

// DecodeResult reads result.json and checks it against its contract. It does not look at the files that it names.
func DecodeResult(doc []byte) (*Result, error) {
	var r Result
	if err := json.Unmarshal(doc, &r); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if r.Schema != schemaVersion {
		return nil, fmt.Errorf("schema %d is not known", r.Schema)
	}
	if err := errors.Join(r.checkHead(), r.checkScores(), r.checkTraining(), r.checkConfusion(), checkOutputs(r.Outputs)); err != nil {
		// One line, since users read it.
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return &r, nil
}

func (r *Result) checkHead() error {
	switch {
	case r.Run == "", r.Attempt < 1, r.Task == "", r.Metric == "":
		return errors.New("run, attempt, task or metric is missing")
	case r.BestEpoch < 0, r.Metrics.BestEpoch != r.BestEpoch:
		return errors.New("best_epoch is wrong")
	case r.Metrics.Metric != r.Metric, r.Metrics.Task != r.Task:
		return errors.New("metrics are of another task or metric")
	case r.Model.Base == "", r.Model.Parameters < 1, len(r.Model.Labels) > maxLabels:
		return errors.New("the model is not described")
	}
	return nil
}

// checkScores also refuses a result that scored nothing: a training without a figure is no success.
func (r *Result) checkScores() error {
	if _, ok := r.Metrics.Validation[r.Metric]; !ok {
		return fmt.Errorf("the validation rows have no %s", shorten(oneLine(r.Metric), 60))
	}
	for name, split := range r.Splits() {
		for metric, s := range split {
			low, high := s.bounds()
			if s.N < 0 || low > high || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
				return fmt.Errorf("the %s of the %s rows is impossible", shorten(oneLine(metric), 60), name)
			}
		}
	}
	return nil
}

func (r *Result) checkTraining() error {
	rows, t := r.Data.Rows, r.Training
	if min(rows.Train, rows.Validation, rows.Test) < 0 || rows.Train == 0 {
		return errors.New("the numbers of rows are impossible")
	}
	if t.Device == "" || t.Workers < 1 || t.Epochs < 0 || t.Seconds < 0 || t.SamplesPerSecond < 0 || t.PeakMemoryBytes < 0 {
		return errors.New("the training is not described")
	}
	return nil
}

func (r *Result) checkConfusion() error {
	if len(r.Confusion) == 0 {
		return nil
	}
	for _, row := range r.Confusion {
		if len(row) != len(r.Model.Labels) || slices.Min(row) < 0 {
			return errors.New("the confusion matrix does not fit the labels")
		}
	}
	if len(r.Confusion) != len(r.Model.Labels) {
		return errors.New("the confusion matrix does not fit the labels")
	}
	return nil
}

// checkOutputs checks the list of files: each path is local, below out/ and written in one way only, each sha256 is one,
// and there are weights among them.
func checkOutputs(outputs []Output) error {
	if len(outputs) > maxOutputs {
		return fmt.Errorf("%d artifacts are too many", len(outputs))
	}
	seen := make(map[string]bool, len(outputs))
	weights := false
	for _, o := range outputs {
		if err := checkPath(o.Path); err != nil {
			return err
		}
		if seen[strings.ToLower(o.Path)] {
			return fmt.Errorf("artifact %q is named twice", o.Path)
		}
		seen[strings.ToLower(o.Path)] = true
		if o.Size < 0 || !isSHA256(o.SHA256) {
			return fmt.Errorf("artifact %q has no proper size or sha256", o.Path)
		}
		weights = weights || isWeights(o.Path)
	}
	if !weights {
		return errors.New("there are no weights (out/model/*.safetensors) among the artifacts")
	}
	return nil
}

func checkPath(p string) error {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }
	if len(p) > maxPath || !strings.HasPrefix(p, outDir) || path.Clean(p) != p || !filepath.IsLocal(p) || strings.ContainsFunc(p, bad) {
		return fmt.Errorf("artifact path %q is not allowed", shorten(p, 200))
	}
	return nil
}

func isWeights(p string) bool {
	return strings.HasPrefix(p, modelDir) && path.Ext(p) == ".safetensors"
}

func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// Splits yields the scores by the name of the split, in the order train, validation, test.
func (r *Result) Splits() func(yield func(string, Scores) bool) {
	return func(yield func(string, Scores) bool) {
		_ = yield(SplitTrain, r.Metrics.Train) && yield(SplitValidation, r.Metrics.Validation) && yield(SplitTest, r.Metrics.Test)
	}
}

// bounds is the interval of the score, or its value twice.
func (s Score) bounds() (low, high float64) {
	low, high = s.Value, s.Value
	if s.Low != nil {
		low = *s.Low
	}
	if s.High != nil {
		high = *s.High
	}
	return low, high
}
