package results

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// What a result may hold at most. The contract is narrower; these keep a broken trainer from filling our memory or a report.
const (
	maxLabels  = 10_000
	maxFiles   = 1_000_000
	maxAnswers = 10_000
	maxWorkers = 10_000
	maxList    = 1_000
	maxShown   = 100 // examples that are shown one by one
	maxCurve   = 10_000
	maxName    = 4096
	maxCount   = 1_000_000_000_000 // rows: sums of them must not overflow
	maxNumber  = 1e300             // differences of such numbers are still numbers
	maxImage   = 32 << 10
)

// pngHeader begins every PNG.
var pngHeader = []byte("\x89PNG\r\n\x1a\n")

func atMost(what string, n, limit int) error {
	if n > limit {
		return fmt.Errorf("%d %s are too many", n, what)
	}
	return nil
}

// notFinite refuses numbers that charts cannot compute with.
func notFinite(values ...float64) error {
	for _, v := range values {
		if math.IsNaN(v) || math.Abs(v) > maxNumber {
			return errors.New("a number is impossible")
		}
	}
	return nil
}

// checkSizes bounds every list and map of a result.
func (r *Result) checkSizes() error {
	err := errors.Join(
		atMost("settings", len(r.Settings), maxList), atMost("checks", len(r.Checks), maxList),
		atMost("versions", len(r.Versions), maxList), atMost("warnings", len(r.Warnings), maxList),
		atMost("artifacts", len(r.Outputs), maxOutputs), atMost("labels", max(len(r.Model.Labels), len(r.Data.Labels)), maxLabels),
		atMost("columns", max(len(r.Model.Columns), len(r.Data.InputColumns)), maxLabels), atMost("files", len(r.Data.Files), maxFiles),
		atMost("reasons", len(r.Data.Dropped), maxList), atMost("workers", len(r.Training.PerWorker), maxWorkers),
		atMost("samples", len(r.Data.Samples), maxShown), atMost("mistakes", len(r.Mistakes), maxShown), atMost("unsure", len(r.Unsure), maxShown), r.checkExamples(),
		atMost("baselines", len(r.Metrics.Baselines), maxShown), atMost("candidates", len(r.Candidates), maxShown), r.Data.Lengths.checkSize(), r.Language.check(), r.Search.checkSize(), r.Script.checkSizes(),
		r.Graph.CheckSizes(), r.Model.Graph.CheckSize())
	for _, s := range r.allScores() {
		err = errors.Join(err, atMost("metrics", len(s), maxList))
	}
	if c := r.Calibration; c != nil {
		err = errors.Join(err, atMost("bins", len(c.Bins), maxList))
	}
	if b := r.Binary; b != nil {
		err = errors.Join(err, atMost("thresholds", len(b.Thresholds), maxList), atMost("points", max(len(b.ROC), len(b.PR)), maxCurve))
		err = errors.Join(err, checkPoints(b.ROC), checkPoints(b.PR))
	}
	if g := r.Regression; g != nil {
		err = errors.Join(err, atMost("points", len(g.Points), maxCurve), checkPoints(g.Points), g.Residuals.checkSize())
	}
	err = errors.Join(err, r.Entities.checkSizes(), r.LabelSets.checkSizes())
	if p := r.Prediction; p != nil {
		err = errors.Join(err, atMost("labels", max(len(p.Counts), len(p.Model.Labels)), maxLabels), atMost("files", len(p.Files), maxFiles),
			atMost("columns", len(p.InputColumns), maxLabels), atMost("answers", len(p.PerFile), maxAnswers),
			atMost("samples", len(p.Samples), maxShown), p.Values.checkSize())
	}
	return err
}

// allScores are the scores of all parts of a result.
func (r *Result) allScores() []Scores {
	all := []Scores{r.Metrics.Train, r.Metrics.Validation, r.Metrics.Test}
	for _, b := range r.Metrics.Baselines[:min(len(r.Metrics.Baselines), maxShown)] {
		all = append(all, b.Test)
	}
	for _, c := range r.Candidates[:min(len(r.Candidates), maxShown)] {
		all = append(all, c.Test)
	}
	if r.Champion != nil {
		all = append(all, r.Champion.Test)
	}
	if r.Search != nil {
		all = append(all, r.Search.DefaultTest, r.Search.BestTest)
	}
	if r.Prediction != nil {
		all = append(all, r.Prediction.Scores, r.Prediction.TrainedScores)
	}
	return all
}

// checkPoints checks that a list holds pairs.
func checkPoints(points [][]float64) error {
	for _, p := range points {
		if len(p) != 2 {
			return errors.New("a point is impossible: it does not have two numbers")
		}
	}
	return nil
}

func (h *Histogram) checkSize() error {
	if h != nil && (len(h.Counts) > maxList || len(h.Edges) > maxList+1) {
		return errors.New("a histogram has too many counts")
	}
	return nil
}

// checkCharts checks what the charts of a result compute with.
func (r *Result) checkCharts() error {
	err := errors.Join(r.checkConfusion(), r.Data.Lengths.check("lengths"), r.Graph.Check())
	if g := r.Regression; g != nil {
		err = errors.Join(err, g.Residuals.check("residuals"))
	}
	if p := r.Prediction; p != nil {
		err = errors.Join(err, p.Values.check("values"))
	}
	return err
}

func (r *Result) checkExamples() error {
	err := atMost("examples", len(r.Examples), maxShown)
	for _, e := range r.Examples {
		err = errors.Join(err, atMost("examples.input", len(e.Input), maxLabels))
	}
	return err
}

func (h *Histogram) check(what string) error {
	if h != nil && (len(h.Counts) == 0 || len(h.Edges) != len(h.Counts)+1 || !slices.IsSorted(h.Edges)) {
		return fmt.Errorf("%s: a histogram does not fit together", what)
	}
	return nil
}

func (r *Result) checkImages() error {
	lists := map[string][]Example{"samples": r.Data.Samples, "mistakes": r.Mistakes, "unsure": r.Unsure}
	if r.Prediction != nil {
		lists["samples"] = r.Prediction.Samples
	}
	for _, what := range []string{"samples", "mistakes", "unsure"} {
		for _, e := range lists[what] {
			if err := CheckImage(e.Image); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	return nil
}

// CheckImage accepts nothing and small pictures in the PNG format. They are shown in a page, where a browser believes the
// header and not us.
func CheckImage(image string) error {
	if image == "" {
		return nil
	}
	if len(image) > base64.StdEncoding.EncodedLen(maxImage) {
		return errors.New("a picture is too large")
	}
	body, err := base64.StdEncoding.Strict().DecodeString(image)
	if err != nil || strings.ContainsAny(image, "\r\n") || !bytes.HasPrefix(body, pngHeader) {
		return errors.New("a picture is no PNG in base64")
	}
	return nil
}
