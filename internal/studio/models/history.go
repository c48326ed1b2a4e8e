package models

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// PredictionOverTime is an automatic prediction of a model.
type PredictionOverTime struct {
	Run        string         `json:"run"`
	At         time.Time      `json:"at"`
	Version    int            `json:"version"`
	File       string         `json:"file" doc:"The file that was predicted, or the first of several"`
	Files      int            `json:"files"`
	Rows       int            `json:"rows"`
	Counts     map[string]int `json:"counts,omitempty" doc:"How often each class was the answer, of the 20 most frequent ones"`
	Mean       *float64       `json:"mean,omitempty" doc:"The mean answer of a model of numbers"`
	Confidence *float64       `json:"confidence,omitempty" doc:"The mean probability of the answers"`
	Unlike     *int           `json:"unlike,omitempty" doc:"Rows that are marked as unlike the training rows"`
	Score      *TestScore     `json:"score,omitempty" doc:"The metric of the model on the rows that had a label"`
	Later      *LaterScore    `json:"later,omitempty" doc:"How good the answers were to rows whose label came after the prediction"`
}

// LaterScore is how good answers were, by labels that came after the prediction.
type LaterScore struct {
	Metric string `json:"metric" doc:"The metric of the model where answers and labels are enough for it, else accuracy or rmse"`
	TestScore
	Of       int `json:"of" doc:"Rows of the prediction with an id and without a label"`
	Repeated int `json:"repeated,omitempty" doc:"Ids that stood in several of these rows: labels cannot be matched with them"`
	Proposed int `json:"proposed,omitempty" doc:"Of the rows with a label, those that were proposed for labelling because the model was unsure of them"`
}

// History are the automatic predictions of a model, oldest first.
type History struct {
	Predictions []PredictionOverTime `json:"predictions"`
}

// historyView is what the page of a model shows of its history.
type historyView struct {
	Pictures []template.HTML
	// Newest are the newest predictions, the newest first, and More is how many earlier ones there are.
	Newest []PredictionOverTime
	More   int
	// Proposed reports whether labels came for rows that were proposed for labelling.
	Proposed bool
}

// shownPredictions is how many predictions are listed below the charts, shownClasses how many classes have a line.
const shownPredictions, shownClasses = 20, 4

// history returns the automatic predictions of a model that the visitor may see.
func (s *Section) history(ctx context.Context, dataset, name string) (History, error) {
	if _, err := web.CheckRole(ctx, s.Rights, dataset, clowder.RoleViewer); err != nil {
		return History{}, err
	}
	all, err := s.Registry.History(s.dataset(dataset), name)
	if err != nil && !errors.Is(err, registry.ErrUnreadable) {
		return History{}, err
	}
	out := History{Predictions: make([]PredictionOverTime, 0, len(all))}
	for _, p := range all {
		shown := PredictionOverTime{
			Run: p.Run, At: p.At, Version: p.Version, File: p.File, Files: p.Files, Rows: p.Rows, Counts: p.Counts, Mean: p.Mean, Confidence: p.Confidence, Unlike: p.Unlike,
		}
		if p.Score != nil {
			shown.Score = &TestScore{Value: p.Score.Value, Low: p.Score.Low, High: p.Score.High, Rows: p.Score.N}
		}
		if l := p.Later; l != nil {
			score := TestScore{Value: l.Score.Value, Low: l.Score.Low, High: l.Score.High, Rows: l.Score.N}
			shown.Later = &LaterScore{Metric: l.Metric, TestScore: score, Of: l.Of, Repeated: l.Repeated, Proposed: l.Proposed}
		}
		out.Predictions = append(out.Predictions, shown)
	}
	return out, nil
}

// drawn is a history as a page shows it; nil without predictions. metric and title are those of the metric of the model.
func (h History) drawn(metric, title string) *historyView {
	all := h.Predictions
	if len(all) == 0 {
		return nil
	}
	v := &historyView{More: max(0, len(all)-shownPredictions)}
	v.Newest = slices.Clone(all[v.More:])
	slices.Reverse(v.Newest)
	v.Proposed = slices.ContainsFunc(v.Newest, func(p PredictionOverTime) bool { return p.Later != nil && p.Later.Proposed > 0 })
	begin := all[0].At
	days := func(p PredictionOverTime) float64 { return p.At.Sub(begin).Hours() / 24 }
	line := func(name string, value func(PredictionOverTime) (float64, bool)) section.Series {
		out := section.Series{Name: name}
		for _, p := range all {
			if y, ok := value(p); ok {
				out.Points = append(out.Points, []float64{days(p), y})
			}
		}
		return out
	}
	sure := line("mean probability", func(p PredictionOverTime) (float64, bool) { return deref(p.Confidence) })
	unlike := line("unlike the training rows", func(p PredictionOverTime) (float64, bool) {
		return shareOf(p.Unlike, p.Rows)
	})
	var classes []section.Series
	for _, name := range mostFrequent(all) {
		classes = append(classes, line(name, func(p PredictionOverTime) (float64, bool) { n := p.Counts[name]; return shareOf(&n, p.Rows) }))
	}
	mean := line("", func(p PredictionOverTime) (float64, bool) { return deref(p.Mean) })
	score := line("labelled at the prediction", func(p PredictionOverTime) (float64, bool) {
		if p.Score == nil {
			return 0, false
		}
		return p.Score.Value, true
	})
	later := func(name, as string) section.Series {
		return line(name, func(p PredictionOverTime) (float64, bool) {
			if p.Later == nil || p.Later.Metric != as {
				return 0, false
			}
			return p.Later.Value, true
		})
	}
	v.draw(len(all), begin, []plot{
		{"How sure, and how like the training rows", "share", []section.Series{sure, unlike}},
		{"Answers", "share of rows", classes},
		{"Mean answer", "mean", []section.Series{mean}},
		{"Score on rows with a label", title, []section.Series{score, later("labelled later", metric)}},
	})
	for _, as := range []string{"accuracy", "rmse"} {
		if as != metric { // the metric of the model needs more than answers and labels
			v.draw(len(all), begin, []plot{{"Score by labels that came later", as, []section.Series{later("", as)}}})
		}
	}
	return v
}

// plot is a chart over time.
type plot struct {
	title, y string
	lines    []section.Series
}

// draw adds the plots that have lines. They show n predictions since begin.
func (v *historyView) draw(n int, begin time.Time, plots []plot) {
	for _, c := range plots {
		lines := slices.DeleteFunc(c.lines, func(s section.Series) bool { return len(s.Points) == 0 })
		block := section.Block{Title: c.title, Chart: &section.Chart{
			Form: section.ChartLine, X: section.ChartAxis{Title: "days since " + begin.UTC().Format(time.DateOnly)}, Y: section.ChartAxis{Title: c.y}, Series: lines,
			Summary: fmt.Sprintf("%s of %s over time.", c.title, text.Count(n, "automatic prediction")),
		}}
		if drawing := chart.OfBlock(block); len(lines) > 0 && drawing != nil {
			if picture, err := report.Picture(drawing); err == nil {
				v.Pictures = append(v.Pictures, picture)
			}
		}
	}
}

func deref(v *float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}

func shareOf(n *int, of int) (float64, bool) {
	if n == nil || of == 0 {
		return 0, false
	}
	return float64(*n) / float64(of), true
}

// mostFrequent are the classes that were the answer most often.
func mostFrequent(all []PredictionOverTime) []string {
	sums := map[string]int{}
	for _, p := range all {
		for name, n := range p.Counts {
			sums[name] += n
		}
	}
	names := registry.ByCount(sums)
	return names[:min(len(names), shownClasses)]
}

// Answers are the counts or the mean of the answers in words.
func (p PredictionOverTime) Answers() string {
	if p.Mean != nil {
		return "mean " + text.Decimal(*p.Mean, 4)
	}
	var parts []string
	for _, name := range registry.ByCount(p.Counts) {
		parts = append(parts, fmt.Sprintf("%s %d", name, p.Counts[name]))
	}
	return text.ListSome(parts, shownClasses, 120)
}

// Sure is the mean probability of the answers in words, empty where there is none.
func (p PredictionOverTime) Sure() string {
	if p.Confidence == nil {
		return ""
	}
	return text.Decimal(*p.Confidence, 2)
}

// FilesText names what was predicted.
func (p PredictionOverTime) FilesText() string {
	if p.Files > 1 {
		return fmt.Sprintf("%s and %d more", p.File, p.Files-1)
	}
	return p.File
}

// LaterText says how good the answers were by labels that came later, and by how many; empty without any.
func (p PredictionOverTime) LaterText() string {
	l := p.Later
	if l == nil {
		return ""
	}
	said := fmt.Sprintf("%s %s on %s of %s", l.Metric, text.Decimal(l.Value, 3), text.Number(l.Rows), text.Count(l.Of, "row"))
	if l.Proposed > 0 {
		said += fmt.Sprintf(", %s proposed for labelling", text.Number(l.Proposed))
	}
	if l.Repeated > 0 {
		said += fmt.Sprintf("; %s not unique", text.Count(l.Repeated, "id"))
	}
	return said
}
