package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// chance says of two scores that the rows cannot tell them apart.
const chance = ", a difference within the 95 % interval"

// comparedScore is one metric of this model and of another on the same test rows.
type comparedScore struct {
	Metric string
	Model  results.Score
	Simple float64
}

// how says how the other one does. Where it lies within the interval of the model, chance may have made it the better one.
func (d comparedScore) how() string {
	switch {
	case d.Model.Value == d.Simple:
		return "as well"
	case withinInterval(d.Model, d.Simple):
		return "about as well"
	default:
		return "better"
	}
}

// withinInterval reports whether another score on the same rows differs, and by no more than chance may make it.
func withinInterval(s results.Score, other float64) bool {
	low, high := s.Bounds()
	return other != s.Value && low < high && other >= low && other <= high
}

// maxBaselineTitle is how many characters of the title of a simple model a sentence has.
const maxBaselineTitle = 110

// baselineScores says what the simple models score on the same rows.
func baselineScores(r *results.Result, metric string) string {
	m := r.Named(metric)
	var words strings.Builder
	if b := r.Baseline(results.RoleConstant); b != nil {
		if s, ok := b.Test[metric]; ok {
			fmt.Fprintf(&words, "; %s scores %s", constantAnswer(r, b), m.Figure(s.Value))
		}
	}
	if b := simple(r); b != nil {
		if s, ok := b.Test[metric]; ok {
			said := ""
			if withinInterval(r.Metrics.Test[metric], s.Value) {
				said = chance
			}
			if words.Len() == 0 {
				fmt.Fprintf(&words, "; %s scores %s%s", called(r, b), m.Figure(s.Value), said)
			} else {
				fmt.Fprintf(&words, ", %s %s%s", called(r, b), m.Figure(s.Value), said)
			}
		}
	}
	for _, role := range []results.Role{results.RoleBefore, results.RoleFloor} {
		if b := r.Baseline(role); b != nil {
			if s, ok := b.Test[metric]; ok {
				fmt.Fprintf(&words, "; %s: %s", text.Shorten(results.Plain(b.Title, b.Name), maxBaselineTitle), m.Figure(s.Value))
			}
		}
	}
	return words.String()
}

// ruleDelivered says that a formula is delivered which learns nothing, and what the network has that was trained.
func ruleDelivered(r *results.Result, metric string) string {
	d := r.Delivered()
	if d == nil || d.Sort != results.SortHeuristic {
		return ""
	}
	words := "; a simple rule is delivered (" + text.Shorten(results.Plain(d.Title, d.Name), maxBaselineTitle) + ")"
	for _, c := range r.Candidates {
		if s, ok := c.Test[metric]; ok && c.Sort == results.SortNetwork {
			return fmt.Sprintf("%s; the network has %s %s", words, r.Named(metric).Words(), r.Named(metric).Figure(s.Value))
		}
	}
	return words
}

// simples are the simple models that are not delivered themselves.
func simples(r *results.Result) []*results.Baseline {
	var list []*results.Baseline
	delivered := r.Delivered()
	for i, b := range r.Metrics.Baselines {
		if b.Role == results.RoleSimple && (delivered == nil || delivered.Name != b.Name) {
			list = append(list, &r.Metrics.Baselines[i])
		}
	}
	return list
}

// simple is the simple model that the verdict names: the best one, nil where there is none.
func simple(r *results.Result) *results.Baseline {
	metric, _, _ := headline(r)
	var best *results.Baseline
	for _, b := range simples(r) {
		if s, ok := b.Test[metric]; best == nil || ok && r.Named(metric).IsBetter(s.Value, best.Test[metric].Value) {
			best = b
		}
	}
	return best
}

// called names a simple model in a sentence. Where there are several, their titles are no nouns.
func called(r *results.Result, b *results.Baseline) string {
	if len(simples(r)) > 1 {
		return "the best simple model (" + text.Shorten(results.Plain(b.Title, b.Name), maxBaselineTitle) + ")"
	}
	return article(b.Title)
}

// simpleWins reports whether the simple model does as well by the headline metric, or better by the one that chose the model.
// Then nobody needs the larger model as it is.
func simpleWins(r *results.Result) (comparedScore, bool) {
	b := simple(r)
	metric, score, where := headline(r)
	if b == nil || where != heldOut {
		return comparedScore{}, false
	}
	if s, ok := b.Test[metric]; ok && !r.Named(metric).IsBetter(score.Value, s.Value) {
		return comparedScore{metric, score, s.Value}, true
	}
	chosen, tested := r.Metrics.Test[r.Metric]
	s, ok := b.Test[r.Metric]
	if tested && ok && r.Named(r.Metric).IsBetter(s.Value, chosen.Value) {
		return comparedScore{r.Metric, chosen, s.Value}, true
	}
	return comparedScore{}, false
}

// help is what would make the model better than a simple one.
func help(r *results.Result) string {
	var ways []string
	if needsBase(r) {
		ways = append(ways, "a pretrained base model")
	}
	ways = append(ways, "more "+r.Unit()+"s")
	if r.BestEpoch >= r.Training.Epochs && r.Training.Epochs > 0 {
		ways = append(ways, "more epochs")
	}
	var sentences []string
	if !perfect(r) {
		sentences = append(sentences, "What may help: "+text.Choice(ways)+".")
	}
	if _, ok := r.Output(results.OutDir + "baseline/config.json"); ok {
		sentences = append(sentences, "The baseline is delivered as baseline.zip.")
	}
	return strings.Join(sentences, " ")
}

// needsBase reports whether a pretrained model would spare this one from learning all that it knows from this data.
func needsBase(r *results.Result) bool {
	return r.Model.FromScratch && r.Model.GainsByBase
}

// perfect reports whether no test row was answered wrong, so that nothing can make the score better.
func perfect(r *results.Result) bool {
	metric, score, where := headline(r)
	m := r.Named(metric)
	if where != heldOut {
		return false
	}
	return m.LowerIsBetter() && score.Value == 0 || !m.LowerIsBetter() && m.Unit == "" && score.Value == 1
}

// championSentence compares the model with the best earlier version on the same test rows.
func championSentence(r *results.Result) string {
	c := r.Champion
	if c == nil {
		return ""
	}
	name := fmt.Sprintf("%s/%d", results.Plain(c.Name, "the earlier model"), c.Version)
	metric, score, _ := headline(r)
	m := r.Named(metric)
	other, ok := c.Test[metric]
	if !c.Comparable || !ok {
		why := results.Plain(c.Why, "it has no "+m.Words()+" on these "+r.Unit()+"s")
		return fmt.Sprintf("It could not be compared with %s: %s.", name, strings.TrimRight(why, ". "))
	}
	word, against := "As good as", ""
	switch {
	case m.IsBetter(score.Value, other.Value):
		word = "Better than"
	case m.IsBetter(other.Value, score.Value):
		word = "Worse than"
	}
	if withinInterval(score, other.Value) {
		against = chance
	}
	return fmt.Sprintf("%s %s on the same test %ss: %s %s against %s%s.", word, name, r.Unit(), m.Words(), m.Figure(score.Value), m.Figure(other.Value), against)
}

// change is the gap between two scores as a person says it: "0.060 lower", "1.5 % higher" where they have a unit.
func change(m results.Metric, from, to float64) string {
	gap := m.Figure(math.Abs(to - from))
	if m.LowerIsBetter() && from > 0 {
		gap = fmt.Sprintf("%.1f %%", 100*math.Abs(to-from)/from)
	}
	switch {
	case to > from:
		return gap + " higher"
	case to < from:
		return gap + " lower"
	default:
		return "the same"
	}
}
