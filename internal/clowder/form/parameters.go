package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// The longest texts that a parameter may hold, in runes: in one line, and in a field of several lines.
const (
	maxTextParameter = 1000
	maxTextArea      = 10_000
)

// Parameters checks what a user sent against the form and returns a value for every field of it: text, int64, float64 or
// bool. Missing, null and blank values take the default. Numbers may come as texts, as v1 and people with curl send them, and
// the fields of a group in it, as the form posts them, or outside, as group.name or with their name alone. Warnings name keys
// that the form does not have, maxUnknown of them. The error is permanent and says for each wrong value what would be right.
func (i *Info) Parameters(raw map[string]any) (resolved map[string]any, warnings []string, err error) {
	raw = i.ungrouped(raw)
	resolved = make(map[string]any, len(i.form))
	var problems []string
	for _, f := range i.form {
		value, err := f.value(raw[f.Name])
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s %s (got %s)", f.Name, err, shown(raw[f.Name])))
			continue
		}
		if value == nil {
			value = f.unset()
		}
		resolved[f.Name] = value
	}
	for name := range raw {
		if !i.has(func(f field) bool { return f.Name == name }) {
			warnings = append(warnings, "Ignored the unknown parameter "+text.Excerpt(name, 40))
		}
	}
	slices.Sort(warnings)
	warnings = warnings[:min(len(warnings), maxUnknown)]
	if len(problems) > 0 {
		return nil, warnings, job.Permanent(errors.New("Invalid parameters: " + strings.Join(problems, "; ")))
	}
	return resolved, warnings, nil
}

// ungrouped returns what a user sent with the full name of each field as its key.
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

// fullName returns the name of the field that is called name, or whose name in its group that is; no two have the same.
func (i *Info) fullName(name string) string {
	for _, f := range i.form {
		if _, inner, grouped := strings.Cut(f.Name, "."); grouped && inner == name {
			return f.Name
		}
	}
	return name
}

func (i *Info) has(what func(field) bool) bool { return slices.ContainsFunc(i.form, what) }

// Defaults returns the value of every field that the user leaves alone.
func (i *Info) Defaults() map[string]any {
	out := make(map[string]any, len(i.form))
	for _, f := range i.form {
		out[f.Name] = f.unset()
	}
	return out
}

// Changed returns those of the resolved values that differ from their default: what the user chose. A form posts all of its
// fields, so one that was set to its default cannot be told from one that was left alone. Numbers may have gone through JSON.
func (i *Info) Changed(resolved map[string]any) map[string]any {
	out := make(map[string]any)
	for _, f := range i.form {
		if value, err := f.value(resolved[f.Name]); err == nil && value != nil && value != f.unset() {
			out[f.Name] = value
		}
	}
	return out
}

// unset is the value of a field that the user left alone.
func (f field) unset() any {
	if f.Default != nil {
		if value, err := f.value(jsonscan.Decode(f.Default)); err == nil && value != nil {
			return value
		}
	}
	return "" // only texts have no default, or a blank one
}

// value converts one value to the type of the field; nil means that it is not set. An error reads on after the name.
func (f field) value(raw any) (any, error) {
	if text, ok := raw.(string); ok {
		if raw = strings.TrimSpace(text); raw == "" {
			return nil, nil
		}
	}
	switch {
	case raw == nil:
		return nil, nil
	case len(f.Enum) > 0:
		return f.choice(raw)
	case f.Type == "boolean":
		return truth(raw)
	case f.Type == "string":
		return f.text(raw)
	default:
		return f.number(raw)
	}
}

func (f field) number(raw any) (any, error) {
	n, ok := toNumber(raw)
	if !ok {
		if f.Type == "integer" {
			return nil, errors.New("must be a whole number")
		}
		return nil, errors.New("must be a number")
	}
	if problem := f.inLimits(n); problem != "" {
		return nil, errors.New(problem)
	}
	if f.Type == "number" {
		return n, nil
	}
	// Beyond 2^53 a float64 skips whole numbers, so that what would be used is not what was typed.
	if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return nil, errors.New("must be a whole number")
	}
	return int64(n), nil
}

func toNumber(raw any) (float64, bool) {
	var digits string
	switch v := raw.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case json.Number:
		digits = v.String()
	case string:
		digits = v
	default:
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n, err == nil
}

// choice finds the entry that is meant; yes and no may come as true and false, which is what YAML makes of them.
func (f field) choice(raw any) (any, error) {
	name, _ := raw.(string)
	if b, ok := raw.(bool); ok {
		name = map[bool]string{true: "yes", false: "no"}[b]
	}
	for _, entry := range f.Enum {
		if strings.EqualFold(entry, name) {
			return entry, nil
		}
	}
	choices, more := f.Enum, ""
	if len(choices) > 10 {
		choices, more = choices[:10], fmt.Sprintf(" or %d others", len(f.Enum)-10)
	}
	if len(choices) == 1 {
		return nil, fmt.Errorf("must be %s, nothing else is offered here", choices[0])
	}
	return nil, fmt.Errorf("must be one of %s%s", strings.Join(choices, ", "), more)
}

func truth(raw any) (any, error) {
	switch v := raw.(type) {
	case bool:
		return v, nil
	case string:
		switch strings.ToLower(v) {
		case "true", "yes", "on", "1":
			return true, nil
		case "false", "no", "off", "0":
			return false, nil
		}
	case json.Number, float64, int, int64:
		if n, ok := toNumber(v); ok && (n == 0 || n == 1) {
			return n == 1, nil
		}
	}
	return nil, errors.New("must be true or false")
}

// text reads one line, or several where the field has room for them.
func (f field) text(raw any) (any, error) {
	clean, limit := text.OneLine, maxTextParameter
	if f.Format == textArea {
		clean, limit = text.Lines, maxTextArea
	}
	var out string
	switch v := raw.(type) {
	case string:
		out = clean(v)
	case json.Number:
		out = v.String()
	case float64:
		out = formatNumber(v)
	default:
		return nil, errors.New("must be a text")
	}
	if text.Shorten(out, limit) != out {
		return nil, fmt.Errorf("must not be longer than %d characters", limit)
	}
	if out == "" {
		return nil, nil
	}
	return out, nil
}

// shown is a wrong value as an error repeats it.
func shown(raw any) string {
	switch v := raw.(type) {
	case string:
		return strconv.Quote(text.Excerpt(v, 40))
	case json.Number:
		return text.Shorten(v.String(), 40)
	case float64:
		return formatNumber(v)
	case bool:
		return strconv.FormatBool(v)
	default:
		return jsonscan.KindOf(raw)
	}
}

// formatNumber writes a number as a person would, with an exponent only where the digits would fill the line.
func formatNumber(n float64) string {
	format := byte('f')
	if size := math.Abs(n); size >= 1e15 || size < 1e-6 && size > 0 {
		format = 'e'
	}
	return strconv.FormatFloat(n, format, -1, 64)
}
