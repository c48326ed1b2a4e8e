package report

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// grade compares the score with what simple models score on the same rows.
func grade(r *results.Result) (Grade, string) {
	metric, score, where := judged(r)
	if where != heldOut {
		return GradeWeak, "Trained, but not tested"
	}
	if word := belowFloor(r); word != "" {
		return GradeBad, word
	}
	if b := r.Baseline(results.RoleBefore); b != nil {
		if before, ok := b.Test[metric]; ok {
			return trainedGrade(r.Named(metric), score, before.Value)
		}
	}
	b := reference(r)
	switch {
	case b == nil && r.Model.FromScratch && r.Baseline(results.RoleFloor) != nil:
		return GradeWeak, "Trained from random weights, and better than the simplest model"
	case b == nil && r.Model.FromScratch:
		return GradeWeak, "Trained from random weights, with nothing to compare it with"
	case b == nil:
		return GradeWeak, "Trained"
	}
	constant, ok := b.Test[metric]
	if !ok {
		return GradeWeak, "Trained"
	}
	low, high := score.Bounds()
	m := r.Named(metric)
	if _, has := best(m, score.Value, constant.Value); !has {
		noBetter := low <= constant.Value
		if m.LowerIsBetter() {
			noBetter = high >= constant.Value
		}
		return plainGrade(noBetter, b)
	}
	if m.LowerIsBetter() {
		return errorGrade(high >= constant.Value, 1-score.Value/constant.Value, b)
	}
	noBetter, wide := low <= constant.Value, high-low > wideInterval
	if first, s, _ := headline(r); first != metric { // a model that is better by either metric is better than guessing
		low, high := s.Bounds()
		wide = wide || high-low > wideInterval
		if other, ok := b.Test[first]; ok {
			noBetter = noBetter && low <= other.Value
		}
	}
	return shareGrade(noBetter, (score.Value-constant.Value)/(1-constant.Value), wide, r.Unit())
}

// belowFloor says that a model is worse than the simplest one, by the first metric that both have; empty where it is not.
func belowFloor(r *results.Result) string {
	b := r.Baseline(results.RoleFloor)
	if b == nil {
		return ""
	}
	for _, m := range r.Described {
		simplest, ok := b.Test[m.Name]
		s, has := r.Metrics.Test[m.Name]
		if !ok || !has {
			continue
		}
		if m.IsBetter(simplest.Value, s.Value) {
			return fmt.Sprintf("%s is better (%s %s against %s)", text.Capital(article(b.Title)), m.Words(), m.Figure(simplest.Value), m.Figure(s.Value))
		}
		return ""
	}
	return ""
}

// trainedGrade compares a model with itself before the training.
func trainedGrade(m results.Metric, score results.Score, before float64) (Grade, string) {
	low, high := score.Bounds()
	switch {
	case !m.IsBetter(score.Value, before):
		return GradeBad, "No better than before the training"
	case before >= low && before <= high:
		return GradeWeak, "A little better than before the training"
	default:
		return GradeGood, "Clearly better than before the training"
	}
}

// shareGrade grades a share, such as the accuracy. reduction is the part of the errors of the constant answer that the model avoids.
func shareGrade(noBetter bool, reduction float64, wide bool, unit string) (Grade, string) {
	switch {
	case noBetter:
		return GradeBad, "No better than guessing"
	case reduction < goodReduction:
		return GradeWeak, "Better than guessing, but weak"
	case wide:
		return GradeWeak, "Promising, but tested on few " + unit + "s"
	default:
		return GradeGood, "Clearly better than guessing"
	}
}

// best is the best possible value of a metric, as far as values of it show that it has one: 1 of a share, 0 of an error. Other metrics,
// such as a lift or a log likelihood, have none that is known here.
func best(m results.Metric, values ...float64) (float64, bool) {
	for _, v := range values {
		if v < 0 && m.LowerIsBetter() || v > 1 && !m.LowerIsBetter() {
			return 0, false
		}
	}
	if m.LowerIsBetter() {
		return 0, values[len(values)-1] > 0
	}
	return 1, m.Unit == "" && values[len(values)-1] < 1
}

// errorGrade grades an error, such as the RMSE.
func errorGrade(noBetter bool, reduction float64, b *results.Baseline) (Grade, string) {
	switch {
	case noBetter:
		return GradeBad, "No better than " + simplest(b)
	case reduction < goodReduction:
		return GradeWeak, "Better than " + simplest(b) + ", but inaccurate"
	default:
		return GradeGood, "Clearly better than " + simplest(b)
	}
}

// plainGrade grades by a metric whose best value is not known.
func plainGrade(noBetter bool, b *results.Baseline) (Grade, string) {
	if noBetter {
		return GradeBad, "No better than " + simplest(b)
	}
	return GradeGood, "Better than " + simplest(b)
}

// simplest names what a model is compared with at least, such as the mean.
func simplest(b *results.Baseline) string {
	return "the " + strings.TrimPrefix(text.Shorten(results.Plain(b.Title, "simplest model"), maxBaselineTitle), "the ")
}
