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

func notNegative(what string, values ...float64) error {
	if slices.Min(values) < 0 || notFinite(values...) != nil {
		return fmt.Errorf("%s has an impossible number", what)
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

func checkExamples(what string, examples []Example) error {
	for _, e := range examples {
		if e.Row < 0 || e.Confidence != nil && notFinite(*e.Confidence) != nil {
			return fmt.Errorf("%s: an example has an impossible number", what)
		}
		if err := CheckImage(e.Image); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return atMost(what, len(examples), maxShown)
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

func (h *Histogram) check(what string) error {
	if h == nil {
		return nil
	}
	if len(h.Counts) == 0 || len(h.Counts) > maxList || len(h.Edges) != len(h.Counts)+1 || !slices.IsSorted(h.Edges) {
		return fmt.Errorf("%s: a histogram does not fit together", what)
	}
	for _, n := range h.Counts {
		if n < 0 || n > maxCount {
			return fmt.Errorf("%s: a histogram has an impossible count", what)
		}
	}
	return notFinite(append([]float64{h.Cut}, h.Edges...)...)
}

func (c *Calibration) check() error {
	if c == nil {
		return nil
	}
	values := []float64{c.ECE}
	for _, b := range c.Bins {
		values = append(values, b.Low, b.High, b.Confidence, b.Accuracy)
		if b.N < 0 || b.N > maxCount {
			return errors.New("the calibration has an impossible count")
		}
	}
	return errors.Join(atMost("bins", len(c.Bins), maxList), checkShares("the calibration", values...))
}

func (b *Binary) check() error {
	if b == nil {
		return nil
	}
	var values []float64
	for _, t := range b.Thresholds {
		values = append(values, t.Threshold, t.Precision, t.Recall, t.F1)
	}
	for _, curve := range [][][]float64{b.ROC, b.PR} {
		if err := checkPoints("a curve", curve); err != nil {
			return err
		}
		values = append(values, slices.Concat(curve...)...)
	}
	return errors.Join(atMost("thresholds", len(b.Thresholds), maxList), checkShares("a curve", values...))
}

func (g *Regression) check() error {
	if g == nil {
		return nil
	}
	return errors.Join(checkPoints("the predicted values", g.Points), g.Residuals.check("residuals"))
}

// checkPoints checks a list of pairs.
func checkPoints(what string, points [][]float64) error {
	for _, p := range points {
		if len(p) != 2 || notFinite(p...) != nil {
			return fmt.Errorf("%s: a point is impossible", what)
		}
	}
	return atMost("points", len(points), maxCurve)
}

// checkShares checks numbers that lie in 0..1, but for rounding.
func checkShares(what string, values ...float64) error {
	const room = 1e-6
	for _, v := range values {
		if math.IsNaN(v) || v < -room || v > 1+room {
			return fmt.Errorf("%s: a share lies outside of 0..1", what)
		}
	}
	return nil
}

func (p *Prediction) check() error {
	if p == nil {
		return errors.New("the prediction is missing")
	}
	if min(p.Rows, p.Skipped, p.Unsure, p.Model.Version) < 0 || max(p.Rows, p.Skipped) > maxCount {
		return errors.New("the numbers of rows are impossible")
	}
	for _, n := range p.Counts {
		if n < 0 || n > maxCount {
			return errors.New("the rows of a label are impossible")
		}
	}
	if max(len(p.Model.Name), len(p.Model.Base), len(p.Model.Run)) > maxName {
		return errors.New("the name of the model is too long")
	}
	for _, f := range p.PerFile {
		if f.Confidence != nil && notFinite(*f.Confidence) != nil {
			return errors.New("the answer for a file has an impossible number")
		}
	}
	return errors.Join(
		atMost("labels", max(len(p.Counts), len(p.Model.Labels)), maxLabels), atMost("files", len(p.Files), maxFiles),
		atMost("columns", len(p.InputColumns), maxLabels), atMost("answers", len(p.PerFile), maxAnswers),
		checkShares("min_confidence", p.MinConfidence), p.Values.check("values"),
		p.Scores.check("predicted"), p.TrainedScores.check("model's test"), checkExamples("samples", p.Samples))
}
