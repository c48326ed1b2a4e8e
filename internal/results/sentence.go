package results

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Sentence writes the progress of a training: "epoch 2 of 3, 41 %, about 2 min left, validation accuracy 0.834 (best)".
func (p *Progress) Sentence() string {
	var parts []string
	switch {
	case p.Phase == PhaseScript && p.Script != nil:
		return p.script(*p.Script)
	case p.Phase == "train" && p.Trial != nil:
		return p.trial(*p.Trial)
	case p.Phase == "train" && p.Epochs > 0:
		parts = []string{fmt.Sprintf("epoch %d of %d", p.Epoch, p.Epochs)}
	case (p.Phase == "predict" || p.Phase == phasePrepare) && p.Fraction > 0:
		parts = []string{strings.TrimSuffix(p.Text, ".")}
	default:
		return p.Text
	}
	parts = append(parts, fmt.Sprintf("%.0f %%", 100*p.Fraction))
	if p.ETA > 0 {
		parts = append(parts, text.About(p.ETA)+" left")
	}
	if name, value, ok := p.Metric(); ok {
		best := ""
		if p.Best != nil && p.Best.Step == p.Validation.Step {
			best = " (best)"
		}
		parts = append(parts, fmt.Sprintf("validation %s %.3f%s", p.Metrics.Named(name).Words(), value, best))
	} else if p.Loss != nil {
		parts = append(parts, fmt.Sprintf("loss %.2f", *p.Loss))
	}
	return strings.Join(parts, ", ")
}

// trial writes the progress of a search: "Trial 7 of 10, 41 %, about 2 min left: best so far 0.84 with learning_rate 0.002".
func (p *Progress) trial(t TrialProgress) string {
	sentence := fmt.Sprintf("Trial %d of %d, %.0f %%", t.Number, t.Trials, 100*p.Fraction)
	if t.Number == 0 {
		sentence = fmt.Sprintf("Default settings, the first of %d trials, %.0f %%", t.Trials, 100*p.Fraction)
	}
	if p.ETA > 0 {
		sentence += ", " + text.About(p.ETA) + " left"
	}
	if t.Value != nil && t.Settings != "" {
		sentence += fmt.Sprintf(": best so far %.3g with %s", *t.Value, t.Settings)
	}
	return sentence
}

// script writes the progress of a script: "the script runs: epoch 2 of 3, 41 %, about 2 min left, val_loss 1.47".
func (p *Progress) script(s ScriptProgress) string {
	var parts []string
	switch {
	case p.Epochs > 0:
		parts = append(parts, fmt.Sprintf("epoch %d of %d", p.Epoch, p.Epochs))
	case p.Steps > 0:
		parts = append(parts, fmt.Sprintf("step %s of %s", text.Number(p.Step), text.Number(p.Steps)))
	case p.Step > 0:
		parts = append(parts, "step "+text.Number(p.Step))
	}
	if p.Fraction > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*p.Fraction))
	}
	if p.ETA > 0 {
		parts = append(parts, text.About(p.ETA)+" left")
	}
	if s.Name != "" {
		parts = append(parts, fmt.Sprintf("%s %.3g", text.Excerpt(s.Name, 40), s.Value))
	} else if p.Loss != nil {
		parts = append(parts, fmt.Sprintf("loss %.3g", *p.Loss))
	}
	sentence := "the script runs"
	switch {
	case s.Start > 1 && s.ResumedFrom != "":
		sentence = "the script goes on from " + text.Excerpt(s.ResumedFrom, 80)
	case s.Start > 1:
		sentence = "the script begins again"
	}
	if len(parts) > 0 {
		sentence += ": " + strings.Join(parts, ", ")
	}
	return sentence
}
