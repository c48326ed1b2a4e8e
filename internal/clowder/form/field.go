package form

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
)

// field is one parameter of the form. One that stands in a group of the form has the name group.name.
type field struct {
	Name        string
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	Format      string          `json:"format"`
}

// The formats that change what the form draws: v2's file picker, whose value is the id of a file, so that it has no default,
// and a text of several lines.
const (
	clowderFile = "ClowderFile"
	textArea    = "textarea"
)

// formWords are what a property may say. Others break the page (oneOf, anyOf, uniqueItems), make the submit button do
// nothing (required), or are not looked at by Parameters.
var formWords = []string{"type", "title", "description", "default", "enum", "minimum", "maximum", "format", "showOnlyDatasetFiles"}

// groupWords are what a group of properties may say. The form draws it as a frame with its title.
var groupWords = []string{"type", "title", "properties"}

// parseForm reads parameters.schema, the only part that v2 draws, and checks each property. Groups may not hold groups.
func parseForm(raw json.RawMessage, report faultFunc) []field {
	var parameters, schema ordered
	if raw == nil || json.Unmarshal(raw, &parameters) != nil || json.Unmarshal(parameters.get("schema"), &schema) != nil {
		report("parameters must be an object with an object schema")
		return nil
	}
	form := make([]field, 0, len(schema))
	for _, m := range schema {
		var group struct {
			Type, Title string
			Properties  ordered
		}
		if json.Unmarshal(m.value, &group) != nil || group.Type != "object" {
			form = appendField(form, m.name, m.value, report)
			continue
		}
		checkWords(m.name, m.value, groupWords, report)
		if !plainText(m.name) || !plainText(group.Title) || group.Title == "" || len(group.Properties) == 0 {
			report("parameter %s: a group needs a title of plain ASCII and properties", m.name)
		}
		for _, inner := range group.Properties {
			form = appendField(form, m.name+"."+inner.name, inner.value, report)
		}
	}
	return form
}

func appendField(form []field, name string, raw json.RawMessage, report faultFunc) []field {
	f := field{Name: name}
	if !checkWords(name, raw, formWords, report) || json.Unmarshal(raw, &f) != nil {
		report("parameter %s: a property is an object with texts and numbers", name)
		return form
	}
	checkField(f, report)
	return append(form, f)
}

// checkWords reports the words of a property that it may not say; false means that it is no object.
func checkWords(name string, raw json.RawMessage, allowed []string, report faultFunc) bool {
	var words ordered
	if json.Unmarshal(raw, &words) != nil {
		return false
	}
	for _, word := range words {
		if !slices.Contains(allowed, word.name) {
			report("parameter %s: %s is not supported, or breaks Clowder's form", name, word.name)
		}
	}
	return true
}

func checkField(f field, report faultFunc) {
	for _, text := range append([]string{f.Name, f.Title, f.Description}, f.Enum...) {
		if !plainText(text) {
			report("parameter %s: %q must be plain ASCII without quotes, angle brackets, ampersands and backslashes, which break v1's page", f.Name, text)
		}
	}
	if f.Title == "" {
		report("parameter %s: without a title the form shows no label", f.Name)
	}
	if !slices.Contains([]string{"string", "integer", "number", "boolean"}, f.Type) {
		report("parameter %s: type must be string, integer, number or boolean", f.Name)
		return
	}
	if f.Format == clowderFile && strings.Contains(f.Name, ".") {
		report("parameter %s: a file picker in a group finds no files", f.Name)
	}
	if f.Default == nil {
		if f.Format != clowderFile {
			report("parameter %s: without a default the form posts nothing for it", f.Name)
		}
		return
	}
	value, err := f.value(jsonscan.Decode(f.Default))
	if err != nil || value == nil && f.Type != "string" {
		report("parameter %s: its default does not fit its type and limits", f.Name)
		return
	}
	if len(f.Enum) > 0 && f.Enum[0] != value {
		report("parameter %s: the default must be the first choice, because the form shows that one", f.Name)
	}
}

// plainText reports whether text may stand in a form: v1 writes it into a JavaScript string in its page.
func plainText(text string) bool {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return !strings.ContainsAny(text, "'\"<>&\\")
}

// limits says which numbers are allowed, for an error.
func (f field) inLimits(n float64) (problem string) {
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return "must be a finite number"
	case f.Minimum != nil && n < *f.Minimum:
		return "must be at least " + formatNumber(*f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return "must be at most " + formatNumber(*f.Maximum)
	default:
		return ""
	}
}
