package runs

import (
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
)

// Setting is an option as a run used it.
type Setting struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Text  string `json:"-"`
	// Source is where the value came from, as the trainer calls it; From is the same for people.
	Source string `json:"source"`
	From   string `json:"-"`
	// Changed says that a person chose it.
	Changed bool `json:"changed"`
}

// The sources of settings that no person chose, and that of the form.
const (
	sourceDefault       = "default"
	sourceAdministrator = "administrator"
	sourceForm          = "form"
)

func newSetting(name string, value any, source string) Setting {
	s := Setting{Name: results.Plain(name, ""), Value: value, Text: report.SettingText(value), Source: source}
	switch source {
	case sourceDefault:
		s.From = "default"
	case results.SourceChosen:
		s.From = "chosen automatically"
	case sourceAdministrator:
		s.From = "set by the administrator"
	case sourceForm:
		s.From, s.Changed = "from the form", true
	case "dataset":
		s.From, s.Changed = "from the settings file of the dataset", true
	case "settings file":
		s.From, s.Changed = "from the settings file", true
	default:
		s.From, s.Changed = "from "+results.Plain(source, "a file"), true
	}
	return s
}

// settingsOf are the settings of a result, those that a person chose first, then those that the trainer chose.
func settingsOf(r *results.Result) []Setting {
	out := make([]Setting, 0, len(r.Settings))
	for _, s := range r.Settings {
		out = append(out, newSetting(s.Name, s.Value, s.Source))
	}
	slices.SortStableFunc(out, func(a, b Setting) int { return weight(a) - weight(b) })
	return out
}

func weight(s Setting) int {
	switch {
	case s.Changed:
		return 0
	case s.Source == results.SourceChosen:
		return 1
	default:
		return 2
	}
}

// settingsOfForm are the settings that the form of a run gave, for a run that has no result yet.
func settingsOfForm(rec job.Record, e Form) []Setting {
	out := []Setting{}
	values := rec.Settings.Values
	if len(values) == 0 {
		values, _, _ = e.Info.Parameters(rec.Request.Parameters) // what is wrong in them is the end of the run
	}
	changed := e.Info.Changed(values)
	for _, f := range e.Info.Fields() {
		if value, ok := changed[f.Name]; ok {
			out = append(out, newSetting(f.Name, value, sourceForm))
		}
	}
	return out
}

// withFileNames gives the files that a form names by their ids the names that people know.
func withFileNames(list []Setting, e Form, inputs []Input) []Setting {
	for _, f := range e.Info.Fields() {
		if !f.File {
			continue
		}
		for i := range list {
			if list[i].Name == f.Name {
				list[i].Text = fileText(list[i].Text, inputs)
			}
		}
	}
	return list
}

// fileText is what people read of a file with this id. Before the files of the dataset are listed, nothing but the id is known.
func fileText(id string, inputs []Input) string {
	at := slices.IndexFunc(inputs, func(in Input) bool { return in.ID == id })
	switch {
	case at >= 0 && inputs[at].Version > 0:
		return fmt.Sprintf("%s, version %d", inputs[at].Name, inputs[at].Version)
	case at >= 0:
		return inputs[at].Name
	case clowder.CheckIDs("file", id) == nil:
		return "a file of the dataset"
	}
	return id // a name, which the API takes too
}

// withChoices adds what the trainer has chosen so far.
func withChoices(list []Setting, choices []results.Decision) []Setting {
	for _, d := range choices {
		if !slices.ContainsFunc(list, func(s Setting) bool { return s.Name == d.What }) {
			list = append(list, newSetting(d.What, d.Choice, results.SourceChosen))
		}
	}
	return list
}

// countChanged is how many settings a person chose.
func countChanged(list []Setting) (n int) {
	for _, s := range list {
		if s.Changed {
			n++
		}
	}
	return n
}
