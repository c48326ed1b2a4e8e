package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/clowder/pick"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxTextParameter is the length in characters of the longest text of one line. A field with several lines has that of an option.
const maxTextParameter = 1000

// Parameters checks what a user sent against the form and returns a value for each field: a string, int64, float64 or bool. Missing,
// null and blank values take the default. Numbers may be texts, as v1 and users of curl send them. The fields of a group may be inside
// the group, as the form posts them, or outside, as group.name or only name. Warnings name unknown parameters, at most maxUnknown. The
// error is permanent and says for each invalid value what is allowed.
func (i *Info) Parameters(raw map[string]any) (resolved map[string]any, warnings []string, err error) {
	raw, warnings = i.renamed(i.ungrouped(i.withoutFolders(raw)))
	resolved = make(map[string]any, len(i.form))
	var problems []string
	for _, f := range i.form {
		value, err := f.value(raw[f.Name])
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s %s (got %s)", f.Name, err, shown(raw[f.Name])))
			continue
		}
		if value == nil {
			value = f.unset
		}
		resolved[f.Name] = value
	}
	for name := range raw {
		if !i.has(func(f field) bool { return f.Name == name }) {
			warnings = append(warnings, i.unknown(name))
		}
	}
	slices.Sort(warnings)
	warnings = warnings[:min(len(warnings), maxUnknown)]
	if len(problems) > 0 {
		return nil, warnings, job.Permanent(errors.New("Invalid parameters: " + strings.Join(problems, "; ")))
	}
	return resolved, warnings, nil
}

// ungrouped returns the parameters with the full name of each field as the key.
func (i *Info) ungrouped(raw map[string]any) map[string]any {
	flat := make(map[string]any, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		value := raw[name]
		inner, ok := value.(map[string]any)
		if !ok || !i.has(func(f field) bool { return strings.HasPrefix(f.Name, name+".") }) {
			flat[i.fullName(name)] = value
			continue
		}
		for member, value := range inner {
			flat[name+"."+member] = value
		}
	}
	return flat
}

// fullName returns the full name of the field with this name, or with this name in its group. Such names are unique.
func (i *Info) fullName(name string) string {
	for _, f := range i.form {
		if _, inner, grouped := strings.Cut(f.Name, "."); grouped && inner == name {
			return f.Name
		}
	}
	return name
}

func (i *Info) has(what func(field) bool) bool { return slices.ContainsFunc(i.form, what) }

// Defaults returns the default of each field.
func (i *Info) Defaults() map[string]any {
	out := make(map[string]any, len(i.form))
	for _, f := range i.form {
		out[f.Name] = f.unset
	}
	return out
}

// Changed returns the resolved values that differ from their default, which the user has chosen. A form posts all its fields, so a
// default that the user typed looks like one that was not changed. Numbers may have been encoded as JSON and decoded again.
func (i *Info) Changed(resolved map[string]any) map[string]any {
	out := make(map[string]any)
	for _, f := range i.form {
		if value, err := f.value(resolved[f.Name]); err == nil && value != nil && value != f.unset {
			out[f.Name] = value
		}
	}
	return out
}

// defaultValue is the value of a field without input.
func (f field) defaultValue() any {
	if f.Default != nil {
		if value, err := f.value(jsonscan.Decode(f.Default)); err == nil && value != nil {
			return value
		}
	}
	return "" // only texts may have no default or a blank one
}

// value converts one value to the type of the field. nil means that it is not set. An error continues a sentence that begins with the
// name of the field.
func (f field) value(raw any) (any, error) {
	v := options.ValueOf(f.asText(raw))
	if v.Shape == options.Text && f.Type == options.String && len(f.Enum) == 0 {
		clean, limit := f.limits()
		if v.Text = clean(v.Text); text.Shorten(v.Text, limit) != v.Text {
			return nil, fmt.Errorf("must not be longer than %d characters", limit)
		}
	}
	if v.IsEmpty() {
		return nil, nil
	}
	if f.Format == clowderFile {
		if picks, err := pick.Parse(v.Text); err != nil || len(picks) == 0 {
			return nil, err
		}
	}
	o := options.Option{Name: f.Name, Type: f.Type, Choices: f.Enum, Minimum: f.Minimum, Maximum: f.Maximum}
	return o.Parse(v)
}

// asText returns the JSON of what a picker of files sends as an object or a list: its value is a text.
func (f field) asText(raw any) any {
	switch raw.(type) {
	case map[string]any, []any:
		if doc, err := json.Marshal(raw); err == nil && f.Format == clowderFile {
			return string(doc)
		}
	}
	return raw
}

// ofScript are the fields whose text a script gets as it is.
//
//nolint:gochecknoglobals // a table
var ofScript = []string{"arguments", "hyperparameters"}

// limits returns how the text of a field is cleaned, and how many characters it may have.
func (f field) limits() (clean func(string) string, most int) {
	clean, most = text.OneLine, maxTextParameter
	switch f.Format {
	case textArea:
		clean, most = text.Lines, options.MaxText
	case clowderFile:
		most = options.MaxText
	}
	if slices.Contains(ofScript, f.Name) {
		return clean, most
	}
	lines := clean
	return func(s string) string { return options.WithoutSecrets(lines(s)) }, most
}

// shown is an invalid value as an error repeats it.
func shown(raw any) string {
	switch v := raw.(type) {
	case string:
		return strconv.Quote(text.Excerpt(options.WithoutSecrets(v), 40))
	case json.Number:
		return text.Shorten(v.String(), 40)
	case float64:
		return options.ValueOf(v).Text
	case bool:
		return strconv.FormatBool(v)
	default:
		return jsonscan.KindOf(raw)
	}
}
