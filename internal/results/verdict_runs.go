package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostLabels is how many labels a sentence names.
const mostLabels = 3

// predictionVerdict says what was predicted, and how well where the data has labels.
func predictionVerdict(r *Result) Verdict {
	p := r.Prediction
	v := Verdict{Grade: GradeGood, Word: "Predicted"}
	v.Figures = fmt.Sprintf("%s of %s predicted with %s", plural(p.Rows, "row"), plural(len(p.Files), "file"), p.Model.ref())
	if counts := answerCounts(p); counts != "" {
		v.Figures += ": " + counts
	}
	if p.Unsure > 0 {
		v.Grade = GradeWeak
		v.Word = "Predicted, some of it unsure"
		v.Figures += fmt.Sprintf("; %s below the confidence of %s", plural(p.Unsure, "answer"), number(p.MinConfidence))
	}
	if metric, s, ok := firstScore(p.Scores, r.Task); ok {
		v.Figures += "; " + scoreWords(metric, s, "labelled")
		if trained, ok := p.TrainedScores[metric]; ok {
			v.Figures += fmt.Sprintf(" (%s on the test rows of its training, %s)", figure(metric, trained.Value), change(metric, trained.Value, s.Value))
			if low, high := s.bounds(); isBetter(metric, trained.Value, s.Value) && (trained.Value > high || trained.Value < low) {
				v.Grade, v.Word = GradeWeak, "Predicted, but not as well as in training"
			}
		}
	}
	if p.Rows == 0 {
		v.Grade, v.Word = GradeBad, "Nothing was predicted"
	}
	v.Sentence = v.Figures
	return v
}

// ref names the model for a person: "reviews/3", else its run or base.
func (m PredictionModel) ref() string {
	switch {
	case m.Name != "" && m.Version > 0:
		return fmt.Sprintf("%s/%d", plain(m.Name, ""), m.Version)
	case m.Run != "":
		return plain(m.Run, "")
	default:
		return "the model " + plain(m.Base, "of this dataset")
	}
}

// answerCounts are the most frequent answers: "700 positive, 534 negative and 12 of 3 others".
func answerCounts(p *Prediction) string {
	labels := labelsByCount(p.Counts)
	var parts []string
	for _, l := range labels[:min(len(labels), mostLabels)] {
		if p.Counts[l] > 0 {
			parts = append(parts, thousands(p.Counts[l])+" "+asWord(shorten(plain(l, "(empty)"), 40)))
		}
	}
	if len(labels) > mostLabels {
		rest := 0
		for _, l := range labels[mostLabels:] {
			rest += p.Counts[l]
		}
		if rest > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", thousands(rest), plural(len(labels)-mostLabels, "other label")))
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
	var labels []string
	for l := range sorted(counts) {
		labels = append(labels, l)
	}
	slices.SortStableFunc(labels, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return labels
}

// firstScore is the score that a person asks for first.
func firstScore(scores Scores, task string) (string, Score, bool) {
	names := []string{"accuracy", "f1_macro"}
	if strings.HasSuffix(task, "-regression") {
		names = []string{"rmse", "mae"}
	}
	for _, metric := range names {
		if s, ok := scores[metric]; ok && s.N > 0 {
			return metric, s, true
		}
	}
	return "", Score{}, false
}

// checkVerdict says what a dry run found.
func checkVerdict(r *Result) Verdict {
	warnings, errors := r.found()
	v := Verdict{Grade: GradeGood, Word: "Ready to train"}
	found := "no warnings"
	switch {
	case errors > 0:
		v.Grade, v.Word = GradeBad, "Not ready to train"
		found = plural(errors, "error") + " and " + plural(warnings, "warning")
	case warnings > 0:
		v.Grade, v.Word = GradeWeak, "Ready to train, with "+plural(warnings, "warning")
		found = plural(warnings, "warning")
	}
	v.Figures = fmt.Sprintf("Nothing was trained: %s on %s", found, plural(r.Data.Rows.Train+r.Data.Rows.Validation+r.Data.Rows.Test, "row"))
	if r.EstimateSeconds > 0 {
		v.Figures += ", the training would take about " + spellRoughly(seconds(r.EstimateSeconds))
	}
	v.Sentence = v.Figures
	return v
}

// found counts the checks that are worth a word, and the warnings that are no check.
func (r *Result) found() (warnings, errors int) {
	texts := map[string]bool{}
	for _, c := range r.Checks {
		switch c.Level {
		case levelWarning:
			texts[c.Text] = true
		case levelError:
			errors++
		}
	}
	for _, w := range r.Warnings {
		texts[w.Text] = true
	}
	return len(texts), errors
}
