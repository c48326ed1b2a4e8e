package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// article puts an article before the title of a simple model.
func article(s string) string {
	s = text.Excerpt(s, 60)
	switch {
	case s == "":
		return "a simple model"
	case strings.ContainsRune("aeiouAEIOU", rune(s[0])):
		return "an " + s
	default:
		return "a " + s
	}
}

// epochs says how many, which may end inside of one: "1 epoch", "4.17 epochs".
func epochs(v float64) string {
	words := text.Decimal(v, 2)
	if words == "1" {
		return "1 epoch"
	}
	return words + " epochs"
}

// What the pages of the studio share with the report, so that both say the same of a run.

// Headline is the score that a person asks for first, and the rows that it was taken over: "held-out" or "validation". The metric is empty
// for a result without scores.
func Headline(r *results.Result) (metric string, score results.Score, where string) {
	return headline(r)
}

// Notes are the warnings of a run, the most serious first.
func Notes(r *results.Result, p results.Progress) []string { return warnings(r, p) }

// SettingText writes the value of a setting as a person would.
func SettingText(value any) string { return settingText(value) }

// Picture draws a chart as an SVG element, whose style rules are those of the page around it.
func Picture(c *chart.Chart) (template.HTML, error) {
	t, err := reportTemplates()
	if err != nil {
		return "", fmt.Errorf("parse the report's templates: %w", err)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, "chart", c); err != nil {
		return "", fmt.Errorf("draw a chart: %w", err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // the template has escaped all texts
}
