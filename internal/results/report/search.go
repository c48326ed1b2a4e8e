package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// searchPart shows the trials of a search and why the delivered one was chosen.
type searchPart struct {
	Sentence string
	Parallel *chart.Parallel
	Charts   []*chart.Chart
	Table    figureTable
	// Delivered is the row of the delivered trial, -1 where the delivered model is none of them.
	Delivered int
	Facts     []pair
}

// newSearchPart is nil where nothing was searched.
func newSearchPart(r *results.Result) *searchPart {
	s := r.Search
	if s == nil {
		return nil
	}
	part := &searchPart{Sentence: results.Plain(s.Why, ""), Parallel: chart.Trials(s), Delivered: -1}
	if c := chart.TrialLoss(s); c != nil {
		part.Charts = append(part.Charts, c)
	}
	metric := results.Plain(s.Metric, "metric")
	part.Table.Heads = []string{"Trial", "Settings", "Validation loss", "Epochs", "Result"}
	if metric != "loss" {
		part.Table.Heads = slices.Insert(part.Table.Heads, 3, "Validation "+r.Named(metric).Words())
	}
	for _, t := range sortedTrials(s) {
		if t.Number == s.Chosen && s.DefaultModel == "" {
			part.Delivered = len(part.Table.Rows)
		}
		part.Table.Rows = append(part.Table.Rows, trialRow(r, t, metric))
	}
	part.Facts = searchFacts(r, metric)
	return part
}

// sortedTrials are the trials that were begun: those that were trained longer first, and of equal length the one with the smaller loss.
func sortedTrials(s *results.Search) []results.Trial {
	begun := slices.DeleteFunc(slices.Clone(s.Trials), func(t results.Trial) bool { return t.State == results.TrialWaiting })
	slices.SortStableFunc(begun, func(a, b results.Trial) int {
		return cmp.Or(cmp.Compare(length(b), length(a)), cmp.Compare(trialLoss(a), trialLoss(b)))
	})
	return begun[:min(len(begun), maxRows)]
}

// length is how far a trial came: the default settings are trained to the end at once.
func length(t results.Trial) int {
	if t.Default {
		return math.MaxInt
	}
	return t.Rungs
}

func trialLoss(t results.Trial) float64 {
	if t.Loss == nil {
		return math.Inf(1)
	}
	return *t.Loss
}

func trialRow(r *results.Result, t results.Trial, metric string) []string {
	figure := func(name string, v *float64) string {
		if v == nil {
			return "–"
		}
		return r.Named(name).Figure(*v)
	}
	row := []string{strconv.Itoa(t.Number), trialSettings(t), figure("loss", t.Loss)}
	if metric != "loss" {
		row = append(row, figure(metric, t.Value))
	}
	state := map[string]string{
		results.TrialBegun: "not finished", results.TrialKept: "trained to the end", results.TrialDropped: "dropped", results.TrialDiverged: "diverged",
	}[t.State]
	return append(row, text.Decimal(t.Epochs, 2), state)
}

func trialSettings(t results.Trial) string {
	var words []string
	if t.Model != "" {
		words = append(words, results.Plain(t.Model, ""))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Settings)) {
		words = append(words, results.Plain(name, "")+" "+settingText(t.Settings[name]))
	}
	if len(words) == 0 {
		return "default settings"
	}
	return text.Shorten(strings.Join(words, ", "), results.MaxText)
}

// searchFacts are the figures on the test rows and the cost of the search.
func searchFacts(r *results.Result, metric string) []pair {
	s := r.Search
	var out []pair
	name := "default settings"
	if s.DefaultModel != "" {
		name = results.Plain(s.DefaultModel, "default model")
	}
	out = append(out, testFact(r, "Test rows, "+name, s.DefaultTest, metric)...)
	if s.Best != nil {
		out = append(out, testFact(r, fmt.Sprintf("Test rows, trial %d", *s.Best), s.BestTest, metric)...)
	}
	if c := s.TestComparison; c != nil && c.Error != nil {
		out = append(out, pair{"Difference in test loss", fmt.Sprintf("%s ± %s on %s (positive: the trial is better)",
			strconv.FormatFloat(c.Difference, 'g', 3, 64), strconv.FormatFloat(*c.Error, 'g', 3, 64), text.Count(c.Rows, "row"))})
	}
	if s.Trainings > 0 {
		out = append(out, pair{"Cost", fmt.Sprintf("%s: as much as %s trainings with the default settings",
			text.Duration(results.Seconds(s.Seconds)), text.Decimal(s.Trainings, 1))})
	}
	if s.Ended != "" {
		out = append(out, pair{"Ended early", results.Plain(s.Ended, "")})
	}
	return out
}

func testFact(r *results.Result, name string, scores results.Scores, metric string) []pair {
	var words []string
	for _, m := range slices.Compact([]string{metric, "loss"}) {
		if cell := newScoreCell(scores, r.Named(m)); cell.Interval != "" {
			words = append(words, fmt.Sprintf("%s %s (%s)", r.Named(m).Words(), cell.Value, cell.Interval))
		}
	}
	if len(words) == 0 {
		return nil
	}
	return []pair{{name, strings.Join(words, ", ")}}
}
