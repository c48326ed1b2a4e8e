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

// The lengths of the longest texts of a parameter, in characters: of one line, and of a field with several lines.
const (
	maxTextParameter = 1000
	maxTextArea      = 10_000
)

// Parameters checks what a user sent against the form and returns a value for each field: a string, int64, float64 or bool. Missing,
// null and blank values take the default. Numbers may be texts, as v1 and users of curl send them. The fields of a group may be inside
// the group, as the form posts them, or outside, as group.name or only name. Warnings name unknown parameters, at most maxUnknown. The
// error is permanent and says for each invalid value what is allowed.
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
			value = f.unset
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
	// Beyond 2^53 a float64 cannot represent all whole numbers, so the value would differ from the input.
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

// choice returns the matching entry. yes and no may be true and false, because YAML reads them so.
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
		choices, more = choices[:10], " or "+text.Count(len(f.Enum)-10, "other")
	}
	if len(choices) == 1 {
		return nil, fmt.Errorf("must be %s, which is the only choice here", choices[0])
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

// text reads one line, or several lines if the format of the field allows them.
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
		return nil, errors.New("must be text")
	}
	if text.Shorten(out, limit) != out {
		return nil, fmt.Errorf("must not be longer than %d characters", limit)
	}
	if out == "" {
		return nil, nil
	}
	return out, nil
}

// shown is an invalid value as an error repeats it.
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

// formatNumber writes a number without an exponent, unless it would be very long.
func formatNumber(n float64) string {
	format := byte('f')
	if size := math.Abs(n); size >= 1e15 || size < 1e-6 && size > 0 {
		format = 'e'
	}
	return strconv.FormatFloat(n, format, -1, 64)
}
