package options

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Source is where the value of an option came from, as results name it.
type Source string

// The sources in their order: the first one that sets an option counts.
const (
	OfForm          Source = "form"
	OfLines         Source = "more options"
	OfChosenFile    Source = "settings file"
	OfDatasetFile   Source = "dataset"
	OfAdministrator Source = "administrator"
	OfTable         Source = "default"
)

// Layer is what one source says.
type Layer struct {
	Source  Source
	Where   string // for sentences: "the form", "more_options", or the name of a file
	Entries []Entry
	// Findings are of the text that the entries were read from.
	Findings []Finding
}

// FormLayer returns the values of a form as a source. Values are what Parse returned, under their names with their groups.
func FormLayer(source Source, where string, values map[string]any) Layer {
	l := Layer{Source: source, Where: where}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		l.Entries = append(l.Entries, Entry{Name: name, Value: ValueOf(values[name])})
	}
	return l
}

// LinesLayer returns the lines of the field more_options as a source.
func LinesLayer(content string) Layer {
	entries, findings := Lines(content)
	return Layer{OfLines, "more_options", entries, findings}
}

// FileLayer returns a settings file as a source.
func FileLayer(source Source, name, content string) Layer {
	entries, findings := Read(name, content)
	return Layer{source, name, entries, findings}
}

// Note is a warning that the user of a run reads. Option, Value and Source are what a name sets that is not in the table: a trainer with further
// kinds of data (MORE_KINDS) may know it, and then takes the value.
type Note struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Option string `json:"option,omitempty"`
	Value  string `json:"value,omitempty"`
	Source Source `json:"source,omitempty"`
}

// The codes of notes.
const (
	UnknownOption = "unknown_option"
	TwoValues     = "two_values"
)

// mostNotes limits the warnings of one source, mostPassed the bytes of a name with its value that is passed on.
const (
	mostNotes  = 20
	mostPassed = 500
)

// Resolved are the options of a run that a source sets. An option that is not there has the default of the table.
type Resolved struct {
	Values  map[string]any    `json:"values"`
	Sources map[string]Source `json:"sources"`
	Notes   []Note            `json:"notes,omitempty"`
}

// Resolve decides which of the sources counts for each option; the layers come in the order of the sources. The error is for the user: it says
// in which source, line and column something is wrong.
func (t Table) Resolve(layers ...Layer) (Resolved, error) {
	r := Resolved{Values: map[string]any{}, Sources: map[string]Source{}}
	firsts := map[string]first{}
	for _, layer := range layers {
		settings, findings := t.Check(layer.Entries)
		findings = append(slices.Clone(layer.Findings), findings...)
		if err := layer.refusal(findings); err != nil {
			return Resolved{}, err
		}
		r.note(layer, findings)
		for _, s := range settings {
			if layer.Source == OfAdministrator && s.Value == s.Default {
				continue
			}
			if before, set := firsts[s.Name]; set {
				r.differ(before, s, layer)
				continue
			}
			firsts[s.Name] = first{layer, s}
			r.Values[s.Name], r.Sources[s.Name] = s.Value, layer.Source
		}
	}
	return r, nil
}

// first is the setting that counts.
type first struct {
	layer   Layer
	setting Setting
}

// refusal is the error for the findings of a source that end a run, nil for none.
func (l Layer) refusal(findings []Finding) error {
	errs := Errors(findings)
	if len(errs) == 0 {
		return nil
	}
	slices.SortStableFunc(errs, func(a, b Finding) int { return a.Line - b.Line })
	others := ""
	if n := len(errs) - 1; n > 0 {
		others = " There " + map[bool]string{true: "is ", false: "are "}[n == 1] + text.Count(n, "further error") + "."
	}
	return fmt.Errorf("%s: %s%s Correct %s, then submit again", l.at(errs[0]), errs[0].Message, others, l.Where)
}

// at says where a finding is.
func (l Layer) at(f Finding) string {
	if f.Line == 0 {
		return l.Where
	}
	return fmt.Sprintf("%s, line %d, column %d", l.Where, f.Line, f.Column)
}

// note keeps the warnings about a source.
func (r *Resolved) note(l Layer, findings []Finding) {
	for _, f := range findings[:min(len(findings), mostNotes)] {
		n := Note{Code: UnknownOption, Text: "In " + l.place(f.Line) + ": " + f.Message}
		if f.option != "" && len(f.option)+len(f.value) <= mostPassed {
			n.Option, n.Value, n.Source = f.option, f.value, l.Source
		}
		r.Notes = append(r.Notes, n)
	}
}

// differ notes that a source sets an option for which another source counts. What an administrator prepared is there to be overridden.
func (r *Resolved) differ(before first, s Setting, l Layer) {
	if l.Source == OfAdministrator || before.setting.Value == s.Value || len(r.Notes) >= 5*mostNotes {
		return
	}
	r.Notes = append(r.Notes, Note{Code: TwoValues, Text: fmt.Sprintf("The option %s is %s in %s and %s in %s: %s counts.", s.Name,
		shown(before.setting.Value), before.layer.place(before.setting.At.Line), shown(s.Value), l.place(s.At.Line), before.layer.Where)})
}

func (l Layer) place(line int) string {
	if line == 0 {
		return l.Where
	}
	return fmt.Sprintf("%s (line %d)", l.Where, line)
}

func shown(value any) string { return text.Excerpt(ValueOf(value).Text, 40) }

// Complete returns the value and the source of every option of the table.
func (t Table) Complete(r Resolved) (values map[string]any, sources map[string]Source) {
	values, sources = make(map[string]any, len(t.all)), make(map[string]Source, len(t.all))
	for _, o := range t.all {
		values[o.Name], sources[o.Name] = o.Default, OfTable
		if value, set := r.Values[o.Name]; set {
			values[o.Name], sources[o.Name] = value, r.Sources[o.Name]
		}
	}
	return values, sources
}

// UnmarshalJSON reads what a store kept: whole numbers are int64 again, and others float64.
func (r *Resolved) UnmarshalJSON(doc []byte) error {
	type stored Resolved
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	if err := decoder.Decode((*stored)(r)); err != nil {
		return fmt.Errorf("decode the options of a run: %w", err)
	}
	for name, value := range r.Values {
		digits, ok := value.(json.Number)
		if !ok {
			continue
		}
		if whole, err := digits.Int64(); err == nil {
			r.Values[name] = whole
			continue
		}
		n, err := digits.Float64()
		if err != nil {
			return errors.New("decode the options of a run: " + name + " is no number")
		}
		r.Values[name] = n
	}
	return nil
}
