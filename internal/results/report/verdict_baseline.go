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

// simple is the simple model that the verdict names, nil where there is none: the linear one, and for the nodes of a graph the best one
// that is not the delivered one.
func simple(r *results.Result) *results.Baseline {
	if r.Graph == nil {
		return r.Baseline(results.BaselineLinear)
	}
	metric, _, _ := headline(r)
	var best *results.Baseline
	for i, b := range r.Metrics.Baselines {
		s, ok := b.Test[metric]
		if c := r.Delivered(); !ok || b.Name == results.BaselineConstant || c != nil && c.Name == b.Name {
			continue
		}
		if best == nil || results.IsBetter(metric, s.Value, best.Test[metric].Value) {
			best = &r.Metrics.Baselines[i]
		}
	}
	return best
}

// called names a simple model in a sentence. The titles of those of graphs are no nouns.
func called(r *results.Result, b *results.Baseline) string {
	if r.Graph != nil {
		return "the best simple model (" + text.Shorten(results.Plain(b.Title, b.Name), 110) + ")"
	}
	return article(b.Title)
}

// simpleWins reports whether the linear model does as well by the headline metric, or better by the one that chose the model.
// Then nobody needs the larger model as it is.
func simpleWins(r *results.Result) (comparedScore, bool) {
	b := simple(r)
	metric, score, where := headline(r)
	if b == nil || where != heldOut {
		return comparedScore{}, false
	}
	if s, ok := b.Test[metric]; ok && !results.IsBetter(metric, score.Value, s.Value) {
		return comparedScore{metric, score, s.Value}, true
	}
	own, has := r.Metrics.Test[r.Metric]
	s, ok := b.Test[r.Metric]
	if has && ok && results.IsBetter(r.Metric, s.Value, own.Value) {
		return comparedScore{r.Metric, own, s.Value}, true
	}
	return comparedScore{}, false
}

// help is what would make the model better than a simple one.
func help(r *results.Result) string {
	var ways []string
	if needsBase(r) {
		ways = append(ways, "a pretrained base model")
	}
	if r.Unit() == "node" {
		ways = append(ways, "labels of more nodes")
	} else {
		ways = append(ways, "more rows")
	}
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
	return r.Model.FromScratch && r.Model.Kind != results.ModelTable && r.Model.Kind != results.ModelGraph
}

// perfect reports whether no test row was answered wrong, so that nothing can make the score better.
func perfect(r *results.Result) bool {
	metric, score, where := headline(r)
	return where == heldOut && (metric == "accuracy" && score.Value >= 1 || metric == "rmse" && score.Value <= 0)
}

// championSentence compares the model with the best earlier version on the same test rows.
func championSentence(r *results.Result) string {
	c := r.Champion
	if c == nil {
		return ""
	}
	name := fmt.Sprintf("%s/%d", results.Plain(c.Name, "the earlier model"), c.Version)
	metric, score, _ := headline(r)
	other, ok := c.Test[metric]
	if !c.Comparable || !ok {
		why := results.Plain(c.Why, "it has no "+results.MetricName(metric)+" on these "+r.Unit()+"s")
		return fmt.Sprintf("It could not be compared with %s: %s.", name, strings.TrimRight(why, ". "))
	}
	word, against := "As good as", ""
	switch {
	case results.IsBetter(metric, score.Value, other.Value):
		word = "Better than"
	case results.IsBetter(metric, other.Value, score.Value):
		word = "Worse than"
	}
	if withinInterval(score, other.Value) {
		against = chance
	}
	return fmt.Sprintf("%s %s on the same test %ss: %s %s against %s%s.", word, name, r.Unit(), results.MetricName(metric),
		results.Figure(metric, score.Value), results.Figure(metric, other.Value), against)
}

// change is the gap between two scores as a person says it: "0.060 lower", "1.5 % higher" where they have a unit.
func change(metric string, from, to float64) string {
	gap := results.Figure(metric, math.Abs(to-from))
	if results.LowerIsBetter(metric) && from > 0 {
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
