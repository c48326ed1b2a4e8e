package runs

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// minCompared and maxCompared are how many runs a comparison has.
const (
	minCompared = 2
	maxCompared = 10
)

// Comparison is several runs side by side. The first is what the others are compared with.
type Comparison struct {
	Runs     []Compared          `json:"runs"`
	Settings []SettingDifference `json:"settings"`
	Metrics  []MetricDifference  `json:"metrics"`
	// SameRows says that all were tested on the same rows; Rows says it in words.
	SameRows bool   `json:"same_test_rows"`
	Rows     string `json:"test_rows"`
	// Curves are the losses and metrics on the validation rows.
	Curves   []ComparedCurve `json:"curves"`
	Pictures []template.HTML `json:"-"`
	// Missing names what cannot be compared, in sentences.
	Missing []string `json:"missing,omitempty"`
}

// Compared is a run in a comparison. Letter stands for it in pictures.
type Compared struct {
	Letter string `json:"letter"`
	Row
}

// SettingDifference is a setting of all runs. A value is nil where a run does not have the setting.
type SettingDifference struct {
	Name   string `json:"name"`
	Values []any  `json:"values"`
	// Texts are the values in words, "–" for none.
	Texts   []string `json:"-"`
	Differs bool     `json:"differs"`
}

// ComparedCurve is a line of a run. A point is [epoch, value].
type ComparedCurve struct {
	Run    string       `json:"run"`
	Metric string       `json:"metric"`
	Points [][2]float64 `json:"points"`
}

// compared is a run with what is compared of it.
type compared struct {
	rec    job.Record
	result *results.Result
	curves chart.Curves
}

// compare compares runs that the visitor may see.
func (s *Section) compare(ctx context.Context, runs []string) (Comparison, error) {
	runs = slices.Clone(runs)
	seen := map[string]bool{}
	runs = slices.DeleteFunc(runs, func(run string) bool { again := seen[run]; seen[run] = true; return again || run == "" })
	if len(runs) < minCompared || len(runs) > maxCompared {
		return Comparison{}, &web.Problem{
			Type: "compare", Title: "Choose two to ten runs", Status: http.StatusUnprocessableEntity,
			Detail: fmt.Sprintf("A comparison has %d to %d runs, and %s chosen.", minCompared, maxCompared, isAre(len(runs))), Do: "Tick the runs in the list, then press Compare.",
		}
	}
	list := make([]compared, len(runs))
	for i, run := range runs {
		rec, _, err := s.find(ctx, run)
		if err != nil {
			return Comparison{}, err
		}
		list[i].rec = rec
	}
	together(len(list), func(i int) { s.load(&list[i]) })
	return s.newComparison(list), nil
}

func isAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// load reads what is compared of a run.
func (s *Section) load(c *compared) {
	c.result = s.result(c.rec)
	events, err := results.ReadEvents(s.volume.Run(c.rec.Run))
	if err != nil {
		return
	}
	like := c.result
	if like == nil {
		var p results.Progress
		for _, e := range events {
			p.Fold(e)
		}
		like = &results.Result{Attempt: c.rec.Attempt, Metric: metricSoFar(&p)}
	}
	c.curves = chart.NewCurves(events, like)
}

func (s *Section) newComparison(list []compared) Comparison {
	out := Comparison{Runs: []Compared{}, Settings: []SettingDifference{}, Metrics: []MetricDifference{}, Curves: []ComparedCurve{}}
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.rec.Run
	}
	for i, colour := range colours(ids) {
		row := s.row(list[i].rec)
		row.Colour = colour
		out.Runs = append(out.Runs, Compared{Letter: string(rune('A' + i)), Row: row})
		if list[i].result == nil {
			out.Missing = append(out.Missing, missing(row))
		}
	}
	out.SameRows, out.Rows = testRows(list)
	out.Settings = s.compareSettings(list)
	out.Metrics = compareMetrics(list, out.SameRows)
	out.draw(list)
	return out
}

func missing(row Row) string {
	switch {
	case row.FolderGone:
		return row.Name + ": its files were removed, so only its score is known."
	case row.State.Over:
		return row.Name + " ended without a result: " + row.State.Word + "."
	default:
		return row.Name + " is " + row.State.Word + ": its test scores come at its end."
	}
}

// testRows says whether all runs were tested on the same rows, or what an example of their task is called.
func testRows(list []compared) (same bool, words string) {
	splits, tasks := map[string]bool{}, map[string]bool{}
	n, with, unit := 0, 0, ""
	for _, c := range list {
		if c.result == nil || c.result.Kind != results.ResultTraining {
			continue
		}
		with++
		splits[c.result.Data.SplitSHA256], tasks[c.result.Task] = true, true
		n, unit = c.result.Data.Rows.Test, c.result.Unit()
	}
	switch {
	case with < 2:
		return false, ""
	case len(tasks) > 1:
		return false, "Different tasks: the scores are not comparable."
	case len(splits) == 1 && !splits[""] && with == len(list):
		return true, "All were tested on the same " + text.Count(n, unit) + "."
	case len(splits) == 1 && !splits[""]:
		return true, "Those that have a result were tested on the same " + text.Count(n, unit) + "."
	default:
		return false, "Different test " + text.Plural(2, unit) + ": the scores are not comparable. Give the dataset a test file, or the runs the same seed and the same files."
	}
}

// compareSettings puts the settings of all runs side by side, those that differ first.
func (s *Section) compareSettings(list []compared) []SettingDifference {
	names := map[string]bool{}
	values, texts := make([]map[string]any, len(list)), make([]map[string]string, len(list))
	for i, c := range list {
		values[i], texts[i] = map[string]any{}, map[string]string{}
		settings := settingsOfForm(c.rec, s.forms.Of(c.rec.Request))
		if c.result != nil {
			settings = settingsOf(c.result)
		}
		for _, s := range withFileNames(settings, s.forms.Of(c.rec.Request), s.inputs(c.rec)) {
			names[s.Name], values[i][s.Name], texts[i][s.Name] = true, s.Value, s.Text
		}
	}
	var out []SettingDifference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d := SettingDifference{Name: name}
		for i := range list {
			words, ok := texts[i][name]
			if !ok {
				words = "–"
			}
			d.Values, d.Texts = append(d.Values, values[i][name]), append(d.Texts, words)
			d.Differs = d.Differs || words != d.Texts[0]
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b SettingDifference) int {
		switch {
		case a.Differs == b.Differs:
			return 0
		case a.Differs:
			return -1
		default:
			return 1
		}
	})
	return out
}

// draw draws the curves of all runs in one picture for the loss and one for each metric by which models were chosen.
func (c *Comparison) draw(list []compared) {
	lines := map[string][]chart.RunLine{}
	var metrics []string
	add := func(metric string, i int, points []chart.Point) {
		if len(points) == 0 {
			return
		}
		if !slices.Contains(metrics, metric) {
			metrics = append(metrics, metric)
		}
		lines[metric] = append(lines[metric], chart.RunLine{Name: c.Runs[i].Letter, Colour: c.Runs[i].Colour, Points: points})
		curve := ComparedCurve{Run: c.Runs[i].Run, Metric: metric, Points: [][2]float64{}}
		for _, p := range points {
			curve.Points = append(curve.Points, [2]float64{p.X, p.Y})
		}
		c.Curves = append(c.Curves, curve)
	}
	for i := range list {
		add("loss", i, list[i].curves.ValidationLoss)
		if name := list[i].curves.MetricName; name != "loss" {
			add(name, i, list[i].curves.Metric)
		}
	}
	slices.SortStableFunc(metrics, func(a, b string) int { return cmp.Compare(rank(a, "loss"), rank(b, "loss")) })
	for _, metric := range metrics {
		m := described(list, metric)
		title := fmt.Sprintf("Validation %s (%s is better)", m.Words(), cmp.Or(m.Direction, results.Higher))
		if picture, err := report.Picture(chart.Overlay(title, m.Words(), lines[metric])); err == nil {
			c.Pictures = append(c.Pictures, picture)
		}
	}
}

// Differing counts the settings that differ.
func (c Comparison) Differing() (n int) {
	for _, s := range c.Settings {
		if s.Differs {
			n++
		}
	}
	return n
}

// Title names the runs of the comparison.
func (c Comparison) title() string {
	var names []string
	for _, run := range c.Runs {
		names = append(names, run.Name)
	}
	return "Compare " + strings.Join(names, ", ")
}
