package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Grade is the verdict as a traffic light.
type Grade string

// The grades, best first.
const (
	GradeGood Grade = "good"
	GradeWeak Grade = "weak"
	GradeBad  Grade = "bad"
)

// Verdict answers in words what a person asks first: is it any good, and what now.
type Verdict struct {
	Grade Grade
	// Word is the grade in words and Figures what is behind it. Sentence is the one line that has to say all.
	Word     string
	Figures  string
	Sentence string
	// Help says what would make the model better where a simple model does as well, Champion how it compares with the best
	// earlier version. Both are empty where there is nothing to say.
	Help     string
	Champion string
}

const (
	// goodReduction is the share of the constant answer's errors that a good model avoids.
	goodReduction = 0.5
	// wideInterval is the width of an interval of a share that is too wide to call a model good.
	wideInterval = 0.15
	// heldOut names the test rows.
	heldOut = "held-out"
	// tooGood is the word where the data may tell the answer.
	tooGood = "The score may be too good to be true"
)

// NewVerdict judges a result: a training by its score on the rows that were held out, against a constant answer, a simple
// model and the best earlier version; a prediction and a check by what they found; a script by how it ended.
func NewVerdict(r *results.Result) Verdict {
	switch r.Kind {
	case results.ResultPrediction:
		return predictionVerdict(r)
	case results.ResultCheck:
		return checkVerdict(r)
	case results.ResultScript:
		return scriptVerdict(r)
	default:
		return trainingVerdict(r)
	}
}

func trainingVerdict(r *results.Result) Verdict {
	if r.PredictsLinks() {
		return linkVerdict(r)
	}
	metric, score, where := headline(r)
	v := Verdict{Figures: scoreWords(metric, score, where, r.Unit()) + secondScore(r, metric), Champion: championSentence(r)}
	if where == heldOut {
		v.Figures += baselineScores(r, metric)
	}
	v.Grade, v.Word = grade(r)
	if won, ok := simpleWins(r); ok {
		does := article(simple(r).Title) + " does " + won.how()
		if r.Graph != nil {
			does = "a simple model does " + won.how()
		}
		if v.Grade == GradeBad {
			v.Word += ", and " + does
		} else {
			v.Grade, v.Word = GradeWeak, text.Capital(does)
		}
		if won.Metric != metric {
			v.Figures += fmt.Sprintf("; its %s is %s, and that of this model is %s",
				results.MetricName(won.Metric), results.Figure(won.Metric, won.Simple), results.Figure(won.Metric, won.Model.Value))
		}
		v.Help = help(r)
		v.Sentence = v.Word + ": "
	}
	if leak := leak(r); leak != "" {
		v.Help = strings.TrimSpace("Before you rely on it: " + leak + " " + v.Help)
		if v.Grade != GradeBad {
			v.Grade, v.Word, v.Sentence = GradeWeak, tooGood, tooGood+": "
		}
	}
	v.Sentence = text.Capital(v.Sentence + v.Figures)
	v.Figures = text.Capital(v.Figures)
	return v
}

// headline is the score that a person asks for first: accuracy or the typical error on the test rows, else the metric of the
// choice, else that on the validation rows, which is said.
func headline(r *results.Result) (metric string, score results.Score, where string) {
	names := []string{"accuracy", "rmse", "exact_match", "bits_per_byte", r.Metric}
	if r.PredictsLinks() {
		names = []string{r.Metric}
	}
	for _, metric := range names {
		if s, ok := r.Metrics.Test[metric]; ok && s.N > 0 {
			return metric, s, heldOut
		}
	}
	return r.Metric, r.Metrics.Validation[r.Metric], "validation"
}

// scoreWords is a score with its interval and its rows, or what unit names: "accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows".
func scoreWords(metric string, s results.Score, where, unit string) string {
	words := results.MetricName(metric) + " " + results.Figure(metric, s.Value)
	if low, high := s.Bounds(); low < high {
		words += fmt.Sprintf(" (95 %% interval %s to %s)", results.Figure(metric, low), results.Figure(metric, high))
	}
	return words + fmt.Sprintf(" on %s %s %ss", text.Number(s.N), where, unit)
}

// secondScore adds what the headline does not tell: how much of the spread a regression explains, or the metric that chose
// the model.
func secondScore(r *results.Result, headline string) string {
	metric := r.Metric
	if headline == "rmse" {
		metric = "r2"
	}
	s, ok := r.Metrics.Test[metric]
	if !ok || metric == headline || metric == "loss" {
		return ""
	}
	words := ", " + results.MetricName(metric) + " " + results.Figure(metric, s.Value)
	if b := r.Baseline(results.BaselineConstant); b != nil && headline != "rmse" {
		if constant, ok := b.Test[metric]; ok {
			words += " (constant baseline " + results.Figure(metric, constant.Value) + ")"
		}
	}
	return words
}

// baselineScores says what the baselines score on the same rows.
func baselineScores(r *results.Result, metric string) string {
	if r.Language != nil {
		return languageBaselines(r, metric)
	}
	var words string
	if b := r.Baseline(results.BaselineConstant); b != nil {
		if s, ok := b.Test[metric]; ok {
			words = fmt.Sprintf("; %s scores %s", constantAnswer(r), results.Figure(metric, s.Value))
		}
	}
	if b := simple(r); b != nil {
		if s, ok := b.Test[metric]; ok {
			said := ""
			if withinInterval(r.Metrics.Test[metric], s.Value) {
				said = chance
			}
			if words == "" {
				return fmt.Sprintf("; %s scores %s", called(r, b), results.Figure(metric, s.Value)) + said
			}
			words += fmt.Sprintf(", %s %s", called(r, b), results.Figure(metric, s.Value)) + said
		}
	}
	return words
}

// constantAnswer is the simplest of all models in words.
func constantAnswer(r *results.Result) string {
	if r.IsRegression() {
		return "always predicting the mean"
	}
	best, label := -1, ""
	for _, l := range r.Model.Labels { // in the model's order, so that a tie always falls the same way
		if n := r.Data.Labels[l]; n > best {
			best, label = n, l
		}
	}
	return fmt.Sprintf("always predicting %q", text.Excerpt(label, 40))
}

// leakCodes are the checks that make a score worth nothing: the test rows were seen, or the label stands in what is read.
var leakCodes = []string{"label_leak", "split_overlap", "feature_is_label"}

// leak is the warning of such a check, empty where there is none.
func leak(r *results.Result) string {
	for _, c := range r.Checks {
		if c.Level != results.LevelOK && slices.Contains(leakCodes, c.Code) {
			return results.Plain(c.Text, "")
		}
	}
	return ""
}

// judged is the score by which a model is graded: that of the metric that chose it, as it is the fair one where classes are
// of unequal size, else the headline.
func judged(r *results.Result) (metric string, score results.Score, where string) {
	metric, score, where = headline(r)
	b := r.Baseline(results.BaselineConstant)
	if b == nil || where != heldOut || r.Metric == "loss" || results.LowerIsBetter(metric) {
		return metric, score, where
	}
	own, has := r.Metrics.Test[r.Metric]
	if _, ok := b.Test[r.Metric]; has && ok && own.N > 0 {
		return r.Metric, own, where
	}
	return metric, score, where
}

// grade compares the score with the constant answer.
func grade(r *results.Result) (Grade, string) {
	metric, score, where := judged(r)
	if r.Language != nil && where == heldOut {
		return languageGrade(r, metric, score)
	}
	b := r.Baseline(results.BaselineConstant)
	if where != heldOut || b == nil {
		return GradeWeak, "Trained, but not tested"
	}
	constant, ok := b.Test[metric]
	if !ok {
		return GradeWeak, "Trained"
	}
	low, high := score.Bounds()
	if results.LowerIsBetter(metric) {
		return errorGrade(high >= constant.Value, 1-score.Value/constant.Value)
	}
	return shareGrade(low <= constant.Value, (score.Value-constant.Value)/(1-constant.Value), high-low > wideInterval, r.Unit())
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

// errorGrade grades an error, such as the RMSE.
func errorGrade(noBetter bool, reduction float64) (Grade, string) {
	switch {
	case noBetter:
		return GradeBad, "No better than the mean"
	case reduction < goodReduction:
		return GradeWeak, "Better than the mean, but inaccurate"
	default:
		return GradeGood, "Clearly better than the mean"
	}
}
