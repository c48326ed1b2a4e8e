package runs

import (
	"encoding/json"
	"math"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Row is a run in a list.
type Row struct {
	Run string `json:"run"`
	// Name is what its user called it, or its id; Colour is the place of its colour in every picture.
	Name    string  `json:"name"`
	Colour  int     `json:"-"`
	Kind    string  `json:"kind" doc:"train, predict or script"`
	Noun    string  `json:"-"`
	Dataset Dataset `json:"dataset"`
	State   State   `json:"state"`
	// Sentence says what happens now, or how the run ended.
	Sentence string    `json:"sentence"`
	Progress *Progress `json:"progress,omitempty"`
	Figure   *Figure   `json:"figure,omitempty"`
	// Verdict is the word of the report, and Grade the same as good, weak or bad.
	Verdict string    `json:"verdict,omitempty"`
	Grade   string    `json:"grade,omitempty"`
	Task    string    `json:"task,omitempty"`
	Base    string    `json:"base,omitempty"`
	Model   *Model    `json:"model,omitempty"`
	By      string    `json:"by,omitempty" doc:"E-mail address of the person who started it"`
	Attempt int       `json:"attempt"`
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"`
	// FolderGone says that the files of the run were removed.
	FolderGone bool `json:"files_removed,omitempty"`
}

// Dataset names a dataset of Clowder.
type Dataset struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// Model is the version that a run made, or predicted with.
type Model struct {
	Ref     string `json:"ref" doc:"name/version"`
	Name    string `json:"name"`
	Version int    `json:"version"`
	// Dataset is where the model is kept.
	Dataset string `json:"dataset"`
	// Champion says that it is the champion now; Why is the reason for the champion when it was made.
	Champion bool   `json:"champion"`
	Why      string `json:"why,omitempty"`
	// Made says that this run made it.
	Made bool `json:"made"`
}

// Progress is how far a training is.
type Progress struct {
	Fraction float64 `json:"fraction" doc:"0 to 1"`
	Percent  int     `json:"-"`
	// Left is the time that the training will still take, in words; empty where it is not known.
	Left       string  `json:"-"`
	ETASeconds float64 `json:"eta_seconds,omitempty"`
	Phase      string  `json:"phase,omitempty"`
	Epoch      int     `json:"epoch,omitempty"`
	Epochs     int     `json:"epochs,omitempty"`
	Step       int     `json:"step,omitempty"`
	Steps      int     `json:"steps,omitempty"`
	Device     string  `json:"device,omitempty"`
	Workers    int     `json:"workers,omitempty"`
}

func newProgress(p *results.Progress) *Progress {
	if p.Phase == "" {
		return nil
	}
	out := &Progress{
		Fraction: p.Fraction, Percent: int(math.Round(100 * p.Fraction)), ETASeconds: p.ETA.Seconds(), Phase: p.Phase, Epoch: p.Epoch, Epochs: p.Epochs,
		Step: p.Step, Steps: p.Steps, Device: p.Device, Workers: p.Workers,
	}
	if p.ETA > 0 {
		out.Left = text.About(p.ETA)
	}
	return out
}

// row describes a run for a list.
func (s *Section) row(rec job.Record) Row {
	e := s.forms.Of(rec.Request)
	out, progress, gone := s.folders.look(rec)
	row := Row{
		Run: rec.Run, Name: nameOfRun(rec), Colour: colourOf(rec.Run), Kind: e.Kind, Noun: e.Noun, Dataset: Dataset{rec.Request.DatasetID, results.Plain(rec.Request.Name, "")},
		State: stateOf(rec), Model: modelOf(rec), By: rec.User, Attempt: rec.Attempt, Created: rec.Created, FolderGone: gone,
	}
	if !rec.Active() {
		row.Ended = rec.Updated
	}
	if m := row.Model; m != nil && m.Made {
		if n, _ := s.champions.champion(s.now(), m.Dataset, m.Name); n > 0 {
			m.Champion = n == m.Version
		}
	}
	if out != nil {
		row.Figure, row.Verdict, row.Grade, row.Task, row.Base = out.figure, out.word, out.grade, out.task, out.base
	} else {
		fromModel(&row, rec)
	}
	if rec.State == job.Running && rec.Ending == nil {
		row.Progress = newProgress(&progress)
		row.Figure = figureSoFar(&progress)
	}
	row.Sentence = s.sentence(rec, &progress)
	return row
}

// sentence says what happens to a run now, or how it ended.
func (s *Section) sentence(rec job.Record, progress *results.Progress) string {
	switch {
	case rec.Ending != nil:
		return text.Capital(rec.Ending.Text)
	case rec.State == job.Running && rec.Requeued.IsZero() && progress.Sentence() != "":
		return text.Capital(progress.Sentence())
	}
	if said := s.lastStatus(rec.Run); said != "" {
		return text.Capital(said)
	}
	switch rec.State {
	case job.Accepted:
		return "The files of the dataset are being prepared."
	case job.Staged, job.Submitted:
		return "Waiting for a place on Ray."
	case job.Running:
		return "The training program starts."
	default:
		return "The results are being saved in Clowder."
	}
}

// nameOfRun is what people call a run.
func nameOfRun(rec job.Record) string {
	return results.Plain(rec.Settings.RunName, rec.Run)
}

// modelOf is the version in the record of a run, nil for none.
func modelOf(rec job.Record) *Model {
	v, ok := versionOf(rec)
	if !ok {
		return nil
	}
	m := &Model{Ref: v.Ref(), Name: v.Name, Version: v.Version, Dataset: v.DatasetID, Made: v.Run == rec.Run}
	if m.Made {
		m.Champion, m.Why = v.Won(), v.Why
	}
	return m
}

func versionOf(rec job.Record) (registry.Version, bool) {
	var v registry.Version
	ok := len(rec.Model) > 0 && json.Unmarshal(rec.Model, &v) == nil && v.Name != ""
	return v, ok
}

// fromModel fills a row from the registered version where the result is gone.
func fromModel(row *Row, rec job.Record) {
	v, ok := versionOf(rec)
	if !ok || v.Run != rec.Run {
		return
	}
	row.Task, row.Base = v.Task, v.Base
	if v.Test != nil && v.Metric != "" {
		row.Figure = newFigure(results.Stored(v.Metric, v.MetricTitle, v.MetricDirection, v.MetricUnit), results.Score{Value: v.Test.Value, Low: v.Test.Low, High: v.Test.High, N: v.Test.N}, overTest)
	}
}
