package results

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"
)

//go:embed report.tmpl.html
var reportSource string

// maxText bounds every text of strangers in the report, maxRows every list.
const (
	maxText = 400
	maxRows = 100
)

// report is what the template shows. All its texts are plain; html/template escapes them where they stand.
type report struct {
	Title, Subtitle string
	Verdict         Verdict
	Strip           *strip
	Tiles           []pair
	Warnings        []string
	Decisions       []Decision
	DataFacts       []pair
	Labels          []bar
	MoreLabels      int
	Learning        string
	Charts          []*chart
	Scores          []scoreRow
	Classes         []classRow
	MoreClasses     int
	Matrix          *matrix
	Advice          []string
	Settings        []pair
	RunFacts        []pair
	Files           []pair
	Snippet         string
	Footer          string
}

// pair is a name and what stands beside it.
type pair struct{ Name, Value string }

// bar is a class and its number of training rows; Share is of the largest, in percent.
type bar struct {
	Name, Value string
	Share       float64
}

// scoreRow is a metric on the three splits.
type scoreRow struct{ Metric, Train, Validation, Test string }

// strip draws the score, its interval and the baseline on a scale from 0 to 100.
type strip struct{ Low, Width, Value, Baseline float64 }

// writeReport writes report.html: one fragment without scripts and without anything that is loaded from elsewhere, whose
// style rules hold below its root only. Clowder inserts it into its own page, where a script would run with the rights of
// whoever looks and a loose style rule would change the page.
func writeReport(w io.Writer, events []Event, r *Result, m Meta) error {
	t, err := template.New("report").Funcs(template.FuncMap{"add": func(a, b float64) float64 { return a + b }}).Parse(reportSource)
	if err != nil {
		return fmt.Errorf("parse the report's template: %w", err)
	}
	return t.Execute(w, newReport(events, r, m))
}

func newReport(events []Event, r *Result, m Meta) report {
	var p Progress
	for _, e := range events {
		if e.Attempt <= r.Attempt {
			p.Fold(e)
		}
	}
	c := newCurves(events, r)
	v := NewVerdict(r)
	classes := classTable(r)
	rep := report{
		Title:    plain(m.DatasetName, "A dataset without a name"),
		Subtitle: fmt.Sprintf("%s, %s, %s", plain(r.Task, ""), plain(r.Model.Base, ""), m.Started.UTC().Format("2 January 2006, 15:04 UTC")),
		Verdict:  v, Strip: newStrip(r, v), Tiles: tiles(r, v),
		Warnings: warnings(r, p), Decisions: decisions(p), DataFacts: dataFacts(r),
		Learning: learningSentence(c, r), Scores: scoreTable(r),
		Classes: classes[:min(len(classes), maxClassRows)], MoreClasses: max(0, len(classes)-maxClassRows),
		Matrix: newMatrix(r), Advice: advice(c, r), Settings: settings(m, r), RunFacts: runFacts(r, m),
		Files: fileFacts(m), Snippet: snippet,
		Footer: fmt.Sprintf("Made by %s %s, run %s, attempt %d.", plain(m.Extractor, "this extractor"), plain(m.Version, ""), plain(m.Run, ""), r.Attempt),
	}
	rep.Labels, rep.MoreLabels = labelBars(r)
	for _, ch := range []*chart{lossChart(c), metricChart(c)} {
		if ch != nil {
			rep.Charts = append(rep.Charts, ch)
		}
	}
	return rep
}

// plain makes a text of strangers short and one line, and puts instead where nothing is left of it.
func plain(s, instead string) string {
	if s = shorten(oneLine(s), maxText); s == "" {
		return instead
	}
	return s
}

func newStrip(r *Result, v Verdict) *strip {
	metric, score, _ := r.headline()
	low, high := score.bounds()
	if metric == "loss" || low < 0 || high > 1 {
		return nil
	}
	return &strip{Low: px(100 * low), Width: px(max(0.6, 100*(high-low))), Value: px(100 * score.Value), Baseline: px(100 * v.Baseline)}
}

func tiles(r *Result, v Verdict) []pair {
	metric, score, where := r.headline()
	out := []pair{{title(metric) + " on " + where + " rows", figure(score.Value)}}
	if f1, ok := r.Metrics.Test["f1_macro"]; ok && metric != "f1_macro" {
		out = append(out, pair{"F1, mean over classes", figure(f1.Value)})
	}
	if v.Baseline >= 0 {
		out = append(out, pair{"Most frequent class alone", figure(v.Baseline)})
	}
	return append(out, pair{"Training time", spell(seconds(r.Training.Seconds))})
}

// warnings joins those of the result with those of the events that it does not repeat.
func warnings(r *Result, p Progress) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range [][]Warning{r.Warnings, p.Warnings} {
		for _, w := range list {
			if text := plain(w.Text, w.Code); !seen[text] && len(out) < maxRows {
				seen[text] = true
				out = append(out, text)
			}
		}
	}
	return out
}

func decisions(p Progress) []Decision {
	out := make([]Decision, 0, min(len(p.Decisions), maxRows))
	for _, d := range p.Decisions[:min(len(p.Decisions), maxRows)] {
		what := plain(strings.ReplaceAll(d.What, "_", " "), "")
		out = append(out, Decision{What: what, Choice: plain(d.Choice, "none"), Why: plain(d.Why, "")})
	}
	return out
}

func dataFacts(r *Result) []pair {
	rows := r.Data.Rows
	out := []pair{
		{"Files", plain(someWords(r.Data.Files, 20), "")},
		{"Text", plain(joinWords(r.Data.InputColumns), "")},
		{"Label", plain(r.Data.LabelColumn, "")},
		{"Rows", fmt.Sprintf("%s for training, %s to choose the best epoch, %s held out for the test",
			thousands(rows.Train), thousands(rows.Validation), thousands(rows.Test))},
	}
	if r.Data.TruncatedShare > 0 {
		out = append(out, pair{"Cut", fmt.Sprintf("%.1f %% of the texts are longer than the %d tokens that the model reads",
			100*r.Data.TruncatedShare, r.Model.MaxLength)})
	}
	return out
}

// labelBars are the classes with their training rows, in the order of the model.
func labelBars(r *Result) (bars []bar, more int) {
	largest := 1
	for _, n := range r.Data.Labels {
		largest = max(largest, n)
	}
	for i, l := range r.Model.Labels {
		if i == maxMatrix {
			return bars, len(r.Model.Labels) - i
		}
		n := r.Data.Labels[l]
		bars = append(bars, bar{Name: plain(shorten(oneLine(l), 60), "(empty)"), Value: thousands(n), Share: px(100 * float64(n) / float64(largest))})
	}
	return bars, 0
}

func scoreTable(r *Result) []scoreRow {
	all := map[string]bool{}
	for _, scores := range r.Splits() {
		for metric := range scores {
			all[metric] = true
		}
	}
	show := func(scores Scores, metric string) string {
		s, ok := scores[metric]
		if !ok {
			return "–"
		}
		return figure(s.Value)
	}
	var out []scoreRow
	for metric := range sorted(all) {
		if len(out) < maxRows {
			out = append(out, scoreRow{plain(title(metric), ""), show(r.Metrics.Train, metric), show(r.Metrics.Validation, metric), show(r.Metrics.Test, metric)})
		}
	}
	return out
}

// settings are those that were used: what the user set, and what the trainer chose where that was left to it.
func settings(m Meta, r *Result) []pair {
	chosen := map[string]string{
		"learning_rate": number(r.Training.LearningRate), "max_length": strconv.Itoa(r.Model.MaxLength),
		"num_workers": strconv.Itoa(r.Training.Workers), "model": r.Model.Base, "use_gpu": r.Training.Device, "task": r.Task,
		"label_column": r.Data.LabelColumn, "text_column": joinWords(r.Data.InputColumns),
	}
	var out []pair
	for name, v := range sorted(m.Settings) {
		if len(out) == maxRows {
			break
		}
		doc, err := json.Marshal(v)
		text := strings.Trim(string(doc), `"`)
		if s, ok := v.(string); ok {
			text = s
		}
		auto := err != nil || text == "" || text == "0" || text == "auto"
		switch pick, ok := chosen[name]; {
		case auto && ok && pick != "":
			text = pick + " (found automatically)"
		case auto && name != "seed":
			text = "not set"
		}
		out = append(out, pair{plain(name, ""), plain(text, "")})
	}
	return out
}

func runFacts(r *Result, m Meta) []pair {
	t := r.Training
	out := []pair{
		{"Device", fmt.Sprintf("%s, %s", plain(t.Device, ""), plural(t.Workers, "worker"))},
		{"Time", fmt.Sprintf("%s for %s (%s)", spell(seconds(t.Seconds)), trim(t.Epochs)+" epochs", plain(t.Stopped, ""))},
		{"Speed", thousands(int64(t.SamplesPerSecond+0.5)) + " rows a second"},
		{"Model", fmt.Sprintf("%s, %s parameters, reads up to %d tokens", plain(r.Model.Base, ""), thousands(r.Model.Parameters), r.Model.MaxLength)},
		{"Seed", strconv.FormatInt(t.Seed, 10)},
		{"Started", m.Started.UTC().Format(time.DateTime) + " UTC"},
		{"Run", plain(m.Run, "")},
	}
	if t.PeakMemoryBytes > 0 {
		out = append(out, pair{"Memory", fmt.Sprintf("at most %s MiB", thousands(t.PeakMemoryBytes>>20))})
	}
	var versions []string
	for name, v := range sorted(r.Versions) {
		if len(versions) < maxRows {
			versions = append(versions, name+" "+v)
		}
	}
	if len(versions) > 0 {
		out = append(out, pair{"Versions", plain(strings.Join(versions, ", "), "")})
	}
	return out
}

// fileFacts are the inputs with the beginning of their sha256, enough to tell whether a file has changed.
func fileFacts(m Meta) []pair {
	var out []pair
	for _, in := range sortedInputs(m.Inputs) {
		if len(out) == maxRows {
			break
		}
		out = append(out, pair{plain(in.Name, ""), fmt.Sprintf("%s bytes, sha256 %s", thousands(in.Size), shorten(plain(in.SHA256, ""), 19))})
	}
	return out
}
