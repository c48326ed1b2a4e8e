package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

// dataPart shows what the run was made from.
type dataPart struct {
	// Unit is what the splits consist of: row, edge or node.
	Unit      string
	Facts     []pair
	Decisions []results.Decision
	Labels    barList
	Lengths   *chart.Chart
	Checks    checkList
	Samples   *examples
}

// bar is a class and its number of rows; Share is of the largest, in percent.
type bar struct {
	Name, Value string
	Share       float64
}

func newDataPart(r *results.Result, p results.Progress, images *imageBudget) *dataPart {
	return &dataPart{
		Unit: r.Unit(), Facts: dataFacts(r, p), Decisions: decisions(p), Checks: newCheckList(r), Lengths: chart.Histogram("Text length", r.Data.Lengths),
		Labels:  newBarList(r.Data.Labels, r.Model.Labels),
		Samples: newExamples(r.Data.Samples, images),
	}
}

func dataFacts(r *results.Result, p results.Progress) []pair {
	d := r.Data
	out := []pair{
		{"Files", fmt.Sprintf("%s: %s", text.Count(len(d.Files), "file"), results.Plain(text.ListSome(d.Files, fewFiles, 60), ""))},
		{"Reads", results.Plain(text.ListSome(d.InputColumns, 30, 60), "the files themselves") + because(p, "text_columns", "input_columns", "columns")},
		{"Label", labelName(r) + because(p, "label_column")},
		{text.Capital(r.Unit()) + "s", fmt.Sprintf("%s for training, %s for validation (to choose the best model), %s held out for the test",
			text.Number(d.Rows.Train), text.Number(d.Rows.Validation), text.Number(d.Rows.Test))},
	}
	for _, left := range d.Dropped[:min(len(d.Dropped), maxRows)] {
		out = append(out, pair{"Skipped", text.Count(left.Rows, "row") + ": " + results.Plain(left.Reason, "no reason was given")})
	}
	for _, file := range d.NotRead[:min(len(d.NotRead), maxRows)] {
		out = append(out, pair{"Not read", text.Shorten(results.Plain(file.Name, ""), 200) + ": " + results.Plain(file.Reason, "no reason was given")})
	}
	if left := len(d.NotRead) - maxRows; left > 0 {
		out = append(out, pair{"Not read", text.Count(left, "more file") + ", see manifest.json"})
	}
	if d.TruncatedShare > 0 {
		limit := float64(r.Model.MaxLength)
		if d.Lengths != nil && limit == 0 { // a check has no model yet
			limit = d.Lengths.Cut
		}
		out = append(out, pair{"Truncated", fmt.Sprintf("%.1f %% of the texts are longer than the %s tokens that the model reads",
			100*d.TruncatedShare, text.Number(int(limit)))})
	}
	if t := d.Target; t != nil {
		out = append(out, pair{"Target", fmt.Sprintf("from %s to %s, mean %s, median %s", text.Significant(t.Min), text.Significant(t.Max), text.Significant(t.Mean), text.Significant(t.Median))})
	}
	return out
}

// labelName says where the labels stand.
func labelName(r *results.Result) string {
	return text.Shorten(results.Plain(r.Data.LabelColumn, results.Plain(r.Data.LabelWords, "the name of the folder")), results.MaxText)
}

// because is the reason of the first decision of that name, as a sentence behind what it decided.
func because(p results.Progress, names ...string) string {
	for _, d := range p.Decisions {
		if slices.Contains(names, d.What) && d.Why != "" {
			return ". " + results.Plain(d.Why, "")
		}
	}
	return ""
}

// barList are labels with their rows, the first of them visible and the others collapsed.
type barList struct {
	First, Rest []bar
	// More is how many are not shown at all.
	More int
}

// newBarList has the labels in the given order; many of them, and those without an order, come with the most frequent first.
func newBarList(counts map[string]int, order []string) barList {
	if len(counts) == 0 {
		return barList{}
	}
	if len(order) == 0 || len(order) > manyClassRows {
		order = labelsByCount(counts)
	}
	largest := 1
	for _, n := range counts {
		largest = max(largest, n)
	}
	list := barList{More: max(0, len(order)-maxRows)}
	for i, l := range order[:min(len(order), maxRows)] {
		b := bar{Name: text.Shorten(results.Plain(l, "(empty)"), 60), Value: text.Number(counts[l]), Share: chart.Tenth(100 * float64(counts[l]) / float64(largest))}
		if i < manyClassRows {
			list.First = append(list.First, b)
		} else {
			list.Rest = append(list.Rest, b)
		}
	}
	return list
}

// fewFiles is how many files of a dataset are named.
const fewFiles = 6

func decisions(p results.Progress) []results.Decision {
	out := make([]results.Decision, 0, min(len(p.Decisions), maxRows))
	for _, d := range p.Decisions[:min(len(p.Decisions), maxRows)] {
		what := results.Plain(strings.ReplaceAll(d.What, "_", " "), "")
		choice := results.Plain(d.Choice, "none")
		if strings.HasPrefix(choice, "{") { // several values by name, which the reason tells in words
			choice = ""
		}
		out = append(out, results.Decision{What: what, Choice: choice, Why: results.Plain(d.Why, "")})
	}
	return out
}

// checkList is the checks of a run: the problems are visible, and the passed checks are collapsed.
type checkList struct{ Bad, Good []results.Check }

func newCheckList(r *results.Result) checkList {
	var list checkList
	for _, level := range []string{results.LevelError, results.LevelWarning, results.LevelOK} {
		for _, c := range r.Checks {
			shown := results.Check{Code: results.Plain(c.Code, ""), Level: level, Text: results.Plain(c.Text, c.Code)}
			switch {
			case c.Level != level, len(list.Bad)+len(list.Good) == maxRows:
			case level == results.LevelOK:
				list.Good = append(list.Good, shown)
			default:
				list.Bad = append(list.Bad, shown)
			}
		}
	}
	return list
}

// examples are rows of the data, the first of them visible and the others collapsed.
type examples struct {
	First, Rest []exampleRow
	// Doubts says that some of their labels may be wrong.
	Doubts bool
}

type exampleRow struct {
	Where, Content               string
	Image                        template.URL
	Label, Predicted, Confidence string
	Doubted                      bool
}

const (
	// shownExamples is how many examples are seen at once, maxExamples how many there are in all.
	shownExamples = 5
	maxExamples   = 20
	// maxImageBytes bounds the pictures of a report, in bytes of their text.
	maxImageBytes = 1_500_000
)

// imageBudget embeds images until the report has no room for more.
type imageBudget struct{ left int }

// url is a picture that the report holds itself. DecodeResult has made sure that it is a PNG in base64 and nothing else.
func (a *imageBudget) url(image string) template.URL {
	if image == "" || len(image) > a.left || section.CheckPicture(image) != nil {
		return ""
	}
	a.left -= len(image)
	return template.URL("data:image/png;base64," + image) //nolint:gosec // checked above
}

// newExamples is nil where there are none.
func newExamples(list []results.Example, images *imageBudget) *examples {
	if len(list) == 0 {
		return nil
	}
	var e examples
	for i, x := range list[:min(len(list), maxExamples)] {
		row := exampleRow{
			Where: text.Shorten(results.Plain(x.File, ""), 80), Content: results.Plain(x.Content, "(empty)"), Image: images.url(x.Image),
			Label: text.Shorten(results.Plain(x.Label, "–"), 80), Predicted: text.Shorten(results.Plain(x.Predicted, "–"), 80), Confidence: "–",
		}
		if x.Row > 0 {
			row.Where += ", row " + text.Number(x.Row)
		} else if x.File == x.Content {
			row.Where = ""
		}
		if x.Confidence != nil {
			row.Confidence = results.Share(*x.Confidence)
		}
		row.Doubted, e.Doubts = x.LabelDoubted, e.Doubts || x.LabelDoubted
		if i < shownExamples {
			e.First = append(e.First, row)
		} else {
			e.Rest = append(e.Rest, row)
		}
	}
	return &e
}
