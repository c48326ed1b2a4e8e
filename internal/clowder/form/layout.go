package form

import "encoding/json"

// withLayout returns a copy of extractor_info.json that lists the fields of the form for Clowder v1, which draws a text of several lines
// as one line otherwise: with ["*"] it does not look at the format of a field. v2 does, and ignores the list. A field within a group stays
// as it is.
func withLayout(document ordered) ordered {
	var parameters, schema ordered
	if json.Unmarshal(document.get("parameters"), &parameters) != nil || json.Unmarshal(parameters.get("schema"), &schema) != nil {
		return document
	}
	type entry struct {
		Key  string `json:"key"`
		Type string `json:"type,omitempty"`
	}
	layout, several := make([]entry, 0, len(schema)), false
	for _, m := range schema {
		var f struct{ Format string }
		e := entry{Key: m.name}
		if json.Unmarshal(m.value, &f) == nil && f.Format == textArea {
			e.Type, several = "textarea", true
		}
		layout = append(layout, e)
	}
	if !several {
		return document
	}
	// To encode texts and valid JSON cannot fail.
	list, _ := json.Marshal(layout)
	raw, _ := json.Marshal(parameters.with("form", list))
	return document.with("parameters", raw)
}
