package form

import (
	"encoding/json"
	"slices"
)

// Field is one parameter of the form, for a page that draws it.
type Field struct {
	// Name is what Parameters takes: the name of the parameter, or group.name. Group is the title of its group, empty for none.
	Name, Group string
	// Type is string, integer, number or boolean.
	Type, Title, Description string
	// Default is what a missing value means: a string, int64, float64 or bool.
	Default any
	// Choices are the allowed texts, the default first; empty where any text is allowed.
	Choices          []string
	Minimum, Maximum *float64
	// File says that the value is the id of a file of the dataset, Long that it is a text of several lines.
	File, Long bool
}

// Fields returns the parameters in the order of the form.
func (i *Info) Fields() []Field {
	groups := i.groupTitles()
	out := make([]Field, len(i.form))
	for n, f := range i.form {
		out[n] = Field{
			Name: f.Name, Group: groups[f.Name], Type: f.Type, Title: f.Title, Description: f.Description, Default: f.unset,
			Choices: slices.Clone(f.Enum), Minimum: f.Minimum, Maximum: f.Maximum, File: f.Format == clowderFile, Long: f.Format == textArea,
		}
	}
	return out
}

// groupTitles maps the full name of each parameter in a group to the title of the group.
func (i *Info) groupTitles() map[string]string {
	out := map[string]string{}
	var parameters, schema ordered
	if json.Unmarshal(i.document.get("parameters"), &parameters) != nil || json.Unmarshal(parameters.get("schema"), &schema) != nil {
		return out // Parse has refused it
	}
	for _, m := range schema {
		var group struct {
			Type, Title string
			Properties  ordered
		}
		if json.Unmarshal(m.value, &group) == nil && group.Type == "object" {
			for _, inner := range group.Properties {
				out[m.name+"."+inner.name] = group.Title
			}
		}
	}
	return out
}
