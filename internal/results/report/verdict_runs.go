package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// mostLabels is how many labels a sentence names.
const mostLabels = 3

// predictionVerdict says what was predicted, and how well where the data has labels.
func predictionVerdict(r *results.Result) Verdict {
	p := r.Prediction
	v := Verdict{Grade: GradeGood, Word: "Predicted"}
	v.Figures = fmt.Sprintf("%s of %s predicted with %s", text.Count(p.Rows, p.Unit()), text.Count(len(p.Files), "file"), p.Model.Ref())
	if counts := answerCounts(p); counts != "" {
		v.Figures += ": " + counts
	}
	if p.Unsure > 0 {
		v.Grade = GradeWeak
		v.Word = "Predicted, some with low confidence"
		v.Figures += fmt.Sprintf("; %s below a confidence of %s", text.Count(p.Unsure, "prediction"), text.Significant(p.MinConfidence))
	}
	if metric, s, ok := r.FirstScore(p.Scores); ok {
		m := r.Named(metric)
		v.Figures += "; " + scoreWords(m, s, "labelled", r.Unit())
		if trained, ok := p.TrainedScores[metric]; ok {
			v.Figures += fmt.Sprintf(" (%s on the test rows of training, %s)", m.Figure(trained.Value), change(m, trained.Value, s.Value))
			if low, high := s.Bounds(); m.IsBetter(trained.Value, s.Value) && (trained.Value > high || trained.Value < low) {
				v.Grade, v.Word = GradeWeak, "Predicted, but scores are lower than in training"
			}
		}
	}
	if p.Rows == 0 {
		v.Grade, v.Word = GradeBad, "Nothing was predicted"
	}
	v.Sentence = v.Figures
	return v
}

// answerCounts are the most frequent answers: "700 positive, 534 negative and 12 of 3 others".
func answerCounts(p *results.Prediction) string {
	labels := labelsByCount(p.Counts)
	var parts []string
	for _, l := range labels[:min(len(labels), mostLabels)] {
		if p.Counts[l] > 0 {
			parts = append(parts, text.Number(p.Counts[l])+" "+asWord(text.Shorten(results.Plain(l, "(empty)"), 40)))
		}
	}
	if len(labels) > mostLabels {
		rest := 0
		for _, l := range labels[mostLabels:] {
			rest += p.Counts[l]
		}
		if rest > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", text.Number(rest), text.Count(len(labels)-mostLabels, "other label")))
		}
	}
	return strings.Join(parts, ", ")
}

// asWord quotes a label that would be read as a part of the number before it.
func asWord(label string) string {
	if r, _ := utf8.DecodeRuneInString(label); unicode.IsLetter(r) {
		return label
	}
	return strconv.Quote(label)
}

// labelsByCount orders labels by their number, the most frequent first.
func labelsByCount(counts map[string]int) []string {
	labels := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(labels, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return labels
}

// checkVerdict says what a dry run found.
func checkVerdict(r *results.Result) Verdict {
	warnings, errors := Found(r)
	v := Verdict{Grade: GradeGood, Word: "Ready to train"}
	checks := "no warnings"
	switch {
	case errors > 0:
		v.Grade, v.Word = GradeBad, "Not ready to train"
		checks = text.Count(errors, "error") + " and " + text.Count(warnings, "warning")
	case warnings > 0:
		v.Grade, v.Word = GradeWeak, "Ready to train, with "+text.Count(warnings, "warning")
		checks = text.Count(warnings, "warning")
	}
	v.Figures = fmt.Sprintf("Data check without training: %s on %s", checks, text.Count(r.Data.Rows.Train+r.Data.Rows.Validation+r.Data.Rows.Test, r.Unit()))
	if r.EstimateSeconds > 0 {
		v.Figures += "; training would take " + text.About(results.Seconds(r.EstimateSeconds))
	}
	v.Sentence = v.Figures
	return v
}

// Found counts the checks that are worth a word, and the warnings that are no check.
func Found(r *results.Result) (warnings, errors int) {
	texts := map[string]bool{}
	for _, c := range r.Checks {
		switch c.Level {
		case results.LevelWarning:
			texts[c.Text] = true
		case results.LevelError:
			errors++
		}
	}
	for _, w := range r.Warnings {
		texts[w.Text] = true
	}
	return len(texts), errors
}
