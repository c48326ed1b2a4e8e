package runs

import (
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
)

// Figure is a score as a person reads it.
type Figure struct {
	// Metric is its name in files, Title its name for people.
	Metric string   `json:"metric"`
	Title  string   `json:"title"`
	Value  float64  `json:"value"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	Rows   int      `json:"rows,omitempty"`
	// Over says what it was taken over: test or validation rows, or "best so far" while a training goes on.
	Over          string `json:"over,omitempty"`
	LowerIsBetter bool   `json:"lower_is_better"`
	// described is the metric.
	described results.Metric
}

// Text is the value, and Interval its 95 % interval, empty for none.
func (f *Figure) Text() string { return f.described.Figure(f.Value) }

// Interval is the 95 % interval in words, empty where there is none.
func (f *Figure) Interval() string {
	if f.Low == nil || f.High == nil || !(*f.Low < *f.High) {
		return ""
	}
	return f.described.Interval(*f.Low, *f.High)
}

func newFigure(m results.Metric, s results.Score, over string) *Figure {
	return &Figure{
		Metric: m.Name, Title: m.Head(), Value: s.Value, Low: s.Low, High: s.High, Rows: s.N, Over: over, LowerIsBetter: m.LowerIsBetter(), described: m,
	}
}

// outcome is what a list shows of the result of a run. It is small, since many are kept.
type outcome struct {
	kind   results.ResultKind
	task   string
	base   string
	figure *Figure
	// word is the verdict of the report.
	word, grade string
}

// Words for the rows that a figure was taken over.
const (
	overTest       = "test rows"
	overValidation = "validation rows"
	overSoFar      = "best so far"
)

func newOutcome(r *results.Result) outcome {
	v := report.NewVerdict(r)
	return outcome{kind: r.Kind, task: r.Task, base: r.Model.Base, figure: figureOf(r), word: v.Word, grade: string(v.Grade)}
}

// figureOf is the score of a result that a person asks for first, nil for none.
func figureOf(r *results.Result) *Figure {
	switch r.Kind {
	case results.ResultTraining:
		metric, score, where := report.Headline(r)
		if metric == "" || score.N == 0 {
			return nil
		}
		over := overTest
		if where == "validation" {
			over = overValidation
		}
		return newFigure(r.Named(metric), score, over)
	case results.ResultPrediction:
		if metric, score, ok := r.FirstScore(r.Prediction.Scores); ok {
			return newFigure(r.Named(metric), score, "labelled rows")
		}
	case results.ResultScript:
		if m := r.Script.Metric; m != nil {
			return newFigure(results.Named(m.Name), results.Score{Value: m.Value}, "")
		}
	case results.ResultCheck:
	}
	return nil
}

// figureSoFar is the best score of a training that goes on, nil before the first.
func figureSoFar(p *results.Progress) *Figure {
	switch {
	case p.Best != nil:
		return newFigure(p.Metrics.Named(p.Best.Metric), results.Score{Value: p.Best.Value}, overSoFar)
	case p.Script != nil && p.Script.Name != "":
		return newFigure(results.Named(p.Script.Name), results.Score{Value: p.Script.Value}, "newest")
	default:
		return nil
	}
}
