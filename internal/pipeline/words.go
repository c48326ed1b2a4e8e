package pipeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/results"
)

// duration says a span as a person would: "35 s", "about 2 min", "about 1 h 20 min".
func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("about %d min", int(d.Round(time.Minute).Minutes()))
	default:
		d = d.Round(10 * time.Minute)
		return fmt.Sprintf("about %d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// count says a number of things, with the plural where it is due.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Sentence says how far a training is: "epoch 2 of 3, 41 %, about 2 min left, validation accuracy 0.834 (best)".
func Sentence(p results.Progress) string {
	var parts []string
	switch {
	case p.Phase == "train" && p.Epochs > 0:
		parts = []string{fmt.Sprintf("epoch %d of %d", p.Epoch, p.Epochs)}
	case p.Phase == "predict" && p.Fraction > 0:
		parts = []string{strings.TrimSuffix(p.Text, ".")}
	default:
		return p.Text
	}
	parts = append(parts, fmt.Sprintf("%.0f %%", 100*p.Fraction))
	if p.ETA > 0 {
		parts = append(parts, duration(p.ETA)+" left")
	}
	if name, value, ok := p.Metric(); ok {
		best := ""
		if p.Best != nil && p.Best.Step == p.Validation.Step {
			best = " (best)"
		}
		parts = append(parts, fmt.Sprintf("validation %s %.3f%s", results.MetricName(name), value, best))
	} else if p.Loss != nil {
		parts = append(parts, fmt.Sprintf("loss %.2f", *p.Loss))
	}
	return strings.Join(parts, ", ")
}

// aWhile is how long a job waits for Ray before its user wants to know when that ends.
const aWhile = time.Minute

// waitingLine says what a job waits for on Ray and, after a while, until when at the latest.
func waitingLine(what string, waited time.Duration, until time.Time) string {
	what = cmp.Or(what, "waiting for Ray to start the job")
	if waited < aWhile {
		return what
	}
	return what + "; if that lasts until " + until.UTC().Format("2 Jan 15:04 UTC") + ", this job is given up"
}

// made is what a run hands over.
func made(kind results.ResultKind) string {
	switch kind {
	case results.ResultPrediction:
		return "the predictions and the report"
	case results.ResultCheck:
		return "the report of the check"
	default:
		return "the model, the metrics and the report"
	}
}

// capital begins a sentence with a capital letter; errors begin without one because they are wrapped.
func capital(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[n:]
}
