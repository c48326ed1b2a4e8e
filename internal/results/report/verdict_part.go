package report

import (
	"math"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// verdictPart is the first thing that a person reads.
type verdictPart struct {
	Grade Grade
	Word  string
	// Lines are sentences.
	Lines    []string
	ScoreBar *scoreBar
}

// scoreBar draws the score, its interval and the simple models on one scale, in percent of its width.
type scoreBar struct {
	// From and To label the ends of the scale.
	From, To          string
	Low, Width, Value float64
	Marks             []scoreBarMark
}

// scoreBarMark is a simple model on the scale.
type scoreBarMark struct {
	At    float64
	Name  string
	Class string
}

func newVerdictPart(r *results.Result, advice []string, model *modelPart) verdictPart {
	v := NewVerdict(r)
	part := verdictPart{Grade: v.Grade, Word: v.Word, Lines: []string{v.Figures + "."}, ScoreBar: newScoreBar(r)}
	for _, line := range []string{v.Help, v.Champion, nextStep(r, v, advice, model)} {
		if line != "" {
			part.Lines = append(part.Lines, line)
		}
	}
	return part
}

// nextStep says what to do now, where the verdict does not.
func nextStep(r *results.Result, v Verdict, advice []string, model *modelPart) string {
	switch {
	case r.Kind == results.ResultCheck && v.Grade != GradeBad:
		return "To train, submit the dataset again with dry_run off."
	case r.Kind == results.ResultCheck:
		return "Fix the errors below, then run the check again."
	case v.Grade == GradeGood && model != nil:
		return "To use it, submit a dataset to ncsa.ray.predict and enter " + model.Names[len(model.Names)-1] + " as the model."
	case v.Help == "" && len(advice) > 0:
		return "What to try next: " + advice[0]
	default:
		return ""
	}
}

func newScoreBar(r *results.Result) *scoreBar {
	if r.Kind != results.ResultTraining {
		return nil
	}
	metric, score, _ := headline(r)
	m := r.Named(metric)
	low, high := score.Bounds()
	end := 1.0
	s := &scoreBar{From: "0", To: "1"}
	if m.LowerIsBetter() {
		end = high
		for _, b := range r.Metrics.Baselines {
			end = max(end, b.Test[metric].Value)
		}
		end *= 1.08
		s.From, s.To = "0 (no error)", m.Figure(end)
	}
	if low < 0 || high > end || !(end > 0) || math.IsInf(end, 0) {
		return nil
	}
	at := func(v float64) float64 { return chart.Tenth(100 * min(1, max(0, v/end))) }
	s.Low, s.Width, s.Value = at(low), chart.Tenth(max(0.6, at(high)-at(low))), at(score.Value)
	for _, b := range baselines(r, 2) {
		if other, ok := b.Test[metric]; ok {
			class := "constant"
			if b.Role == results.RoleSimple {
				class = "linear"
			}
			s.Marks = append(s.Marks, scoreBarMark{at(other.Value), text.Shorten(results.Plain(b.Title, b.Name), 40), class})
		}
	}
	return s
}
