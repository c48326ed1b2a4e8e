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
	// tooGood is the word where the data may tell the answer, computed where they do, and cutShort where the answers are not known in full.
	tooGood  = "The score may be too good to be true"
	computed = "The answer is computed from what the model reads"
	cutShort = "The answers of some rows are not known in full"
	// flattered is the word where test rows are like training rows, and new rows will not be.
	flattered = "The score may not hold for new rows"
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
	metric, score, where := headline(r)
	v := Verdict{Figures: scoreWords(r.Named(metric), score, where, r.Unit()) + moreScores(r, metric), Champion: championSentence(r)}
	if where == heldOut {
		v.Figures += baselineScores(r, metric) + ruleDelivered(r, metric)
	}
	v.Grade, v.Word = grade(r)
	won, simpler := simpleWins(r)
	if simpler {
		does := called(r, simple(r)) + " does " + won.how()
		if v.Grade == GradeBad {
			v.Word += ", and " + does
		} else {
			v.Grade, v.Word = GradeWeak, text.Capital(does)
		}
		if m := r.Named(won.Metric); won.Metric != metric {
			v.Figures += fmt.Sprintf("; its %s is %s, and that of this model is %s", m.Words(), m.Figure(won.Simple), m.Figure(won.Model.Value))
		}
		v.Help = help(r)
	}
	if simpler || v.Grade == GradeBad {
		v.Sentence = v.Word + ": "
	}
	if word, warning := doubt(r); warning != "" {
		v.Help = strings.TrimSpace("Before you rely on it: " + warning + " " + v.Help)
		if v.Grade != GradeBad {
			v.Grade, v.Word, v.Sentence = GradeWeak, word, word+": "
		}
	}
	v.Sentence = text.Capital(v.Sentence + v.Figures)
	v.Figures = text.Capital(v.Figures)
	return v
}

// headline is the score that a person asks for first: the first metric on the test rows, else the metric of the choice on the validation
// rows, which is said.
func headline(r *results.Result) (metric string, score results.Score, where string) {
	if metric, s, ok := r.FirstScore(r.Metrics.Test); ok {
		return metric, s, heldOut
	}
	if s, ok := r.Metrics.Test[r.Metric]; ok && s.N > 0 {
		return r.Metric, s, heldOut
	}
	return r.Metric, r.Metrics.Validation[r.Metric], "validation"
}

// scoreWords is a score with its interval and its rows, or what unit names: "accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows".
func scoreWords(m results.Metric, s results.Score, where, unit string) string {
	words := m.Words() + " " + m.Figure(s.Value)
	if low, high := s.Bounds(); low < high {
		words += fmt.Sprintf(" (95 %% interval %s to %s)", m.Figure(low), m.Figure(high))
	}
	return words + fmt.Sprintf(" on %s %s %ss", text.Number(s.N), where, unit)
}

// maxMore is how many metrics the verdict names behind the headline.
const maxMore = 2

// moreScores adds what the headline does not tell: the metrics that grade the model, and of an error the first score.
func moreScores(r *results.Result, headline string) string {
	names := judges(r)
	if r.Named(headline).LowerIsBetter() {
		for _, m := range r.Described {
			if s, ok := r.Metrics.Test[m.Name]; ok && s.N > 0 && !m.LowerIsBetter() {
				names = []string{m.Name}
				break
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, ok := r.Metrics.Test[name]
		return !ok || name == headline || r.Named(name).LowerIsBetter() && !r.Named(name).Judges
	})
	var words strings.Builder
	for _, name := range names[:min(len(names), maxMore)] {
		s, m := r.Metrics.Test[name], r.Named(name)
		fmt.Fprintf(&words, ", %s %s", m.Words(), m.Figure(s.Value))
		if b := r.Baseline(results.RoleConstant); b != nil && !r.Named(headline).LowerIsBetter() {
			if constant, ok := b.Test[name]; ok && (!m.Judges || constant.Value != b.Test[headline].Value) { // the sentence ends with that of the headline
				words.WriteString(" (constant baseline " + m.Figure(constant.Value) + ")")
			}
		}
	}
	return words.String()
}

// constantAnswer is the simplest of all models in words: the label itself, where it always answers with the most frequent one.
func constantAnswer(r *results.Result, b *results.Baseline) string {
	title := text.Shorten(results.Plain(b.Title, "same answer"), maxBaselineTitle)
	best, label := -1, ""
	for _, l := range r.Model.Labels { // in the model's order, so that a tie always falls the same way
		if n := r.Data.Labels[l]; n > best {
			best, label = n, l
		}
	}
	frequent := strings.HasPrefix(title, "most frequent ")
	switch {
	case frequent && best >= 0:
		return fmt.Sprintf("always predicting %q", text.Excerpt(label, 40))
	case frequent || strings.HasPrefix(title, "mean") || strings.HasPrefix(title, "same"):
		return "always predicting the " + title
	default:
		return "always predicting " + title
	}
}

// doubts are the words for checks that make a score worth little: the test rows were seen or are like those that were, the label stands in what is
// read or is computed from it, or is not what it seems.
var doubts = map[string]string{
	"label_leak": tooGood, "split_overlap": tooGood, "feature_is_label": tooGood, "label_formula": computed, "follow_up": cutShort,
	"near_copies": tooGood, "label_in_form": tooGood, "time_neighbours": flattered, "split_flatters": flattered,
}

// doubt is the word and the warning of the first such check, empty where there is none.
func doubt(r *results.Result) (word, warning string) {
	for _, c := range r.Checks {
		if word := doubts[c.Code]; word != "" && c.Level != results.LevelOK {
			return word, results.Plain(c.Text, "")
		}
	}
	return "", ""
}

// judges are the metrics that grade a model, the one that says how good it is first.
func judges(r *results.Result) []string {
	var names []string
	for _, m := range r.Described {
		if m.Judges {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		names = []string{r.Metric}
	}
	return names
}

// judged is the score by which a model is graded: that of the first metric that grades it, which is the fair one where classes are of
// unequal size, else the headline.
func judged(r *results.Result) (metric string, score results.Score, where string) {
	metric, score, where = headline(r)
	b := reference(r)
	first := judges(r)[0]
	declared := r.Named(first).Judges // a kind says so; else an error is graded by itself
	if b == nil || where != heldOut || r.Named(metric).LowerIsBetter() && !declared {
		return metric, score, where
	}
	s, tested := r.Metrics.Test[first]
	if _, ok := b.Test[first]; tested && ok && s.N > 0 && (declared || !r.Named(first).LowerIsBetter()) {
		return first, s, where
	}
	return metric, score, where
}

// reference is what a model that has learnt nothing scores, nil where nobody knows it.
func reference(r *results.Result) *results.Baseline {
	if b := r.Baseline(results.RoleConstant); b != nil {
		return b
	}
	return r.Baseline(results.RoleChance)
}
