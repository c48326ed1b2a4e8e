package form

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
)

// field is one parameter of the form. A parameter in a group has the name group.name.
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

	// unset is the value of the field without input.
	unset any
}

// The formats that change how the form draws a field: v2's file picker, whose value is the id of a file and which has no default, and a
// text of several lines.
const (
	clowderFile = "ClowderFile"
	textArea    = "textarea"
)

// fieldKeywords are the keywords that a property may have. Others break the page (oneOf, anyOf, uniqueItems), disable the submit button
// (required), or are ignored by Parameters.
var fieldKeywords = []string{"type", "title", "description", "default", "enum", "minimum", "maximum", "format", "showOnlyDatasetFiles"}

// groupKeywords are the keywords that a group of properties may have. The form draws a group as a frame with its title.
var groupKeywords = []string{"type", "title", "properties"}

// parseForm reads parameters.schema, the only part that v2 draws, and checks each property. Groups may not contain groups.
func parseForm(raw json.RawMessage, report reportFunc) []field {
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
		checkKeywords(m.name, m.value, groupKeywords, report)
		if !plainText(m.name) || !plainText(group.Title) || group.Title == "" || len(group.Properties) == 0 {
			report("parameter %s: a group needs a title in plain ASCII, and properties", m.name)
		}
		for _, inner := range group.Properties {
			form = appendField(form, m.name+"."+inner.name, inner.value, report)
		}
	}
	return form
}

func appendField(form []field, name string, raw json.RawMessage, report reportFunc) []field {
	f := field{Name: name}
	if !checkKeywords(name, raw, fieldKeywords, report) || json.Unmarshal(raw, &f) != nil {
		report("parameter %s: a property must be an object with texts and numbers", name)
		return form
	}
	checkField(f, report)
	f.unset = f.defaultValue()
	return append(form, f)
}

// checkKeywords reports the keywords that a property may not have. It returns false if the property is not an object.
func checkKeywords(name string, raw json.RawMessage, allowed []string, report reportFunc) bool {
	var keywords ordered
	if json.Unmarshal(raw, &keywords) != nil {
		return false
	}
	for _, keyword := range keywords {
		if !slices.Contains(allowed, keyword.name) {
			report("parameter %s: %s is not supported or breaks Clowder's form", name, keyword.name)
		}
	}
	return true
}

func checkField(f field, report reportFunc) {
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
	checkDefault(f, report)
}

func checkDefault(f field, report reportFunc) {
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

// plainText reports whether a form may contain this text. v1 writes it into a JavaScript string of its page.
func plainText(text string) bool {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return !strings.ContainsAny(text, "'\"<>&\\")
}
