package form

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/pick"
)

// folderFields are the fields in which a user types a folder, by the field that has a picker for files of the same use: the picker of Clowder v2
// opens folders and chooses files. They are drawn on Clowder's page only, and what is typed there becomes a part of the other field.
//
//nolint:gochecknoglobals // a table
var folderFields = map[string]string{"data_file": "data_folder", "validation_file": "validation_folder", "test_file": "test_folder"}

// withFolders returns a copy of extractor_info.json with a field for a folder behind each picker that may choose one.
func withFolders(document ordered) ordered {
	var parameters, schema ordered
	if json.Unmarshal(document.get("parameters"), &parameters) != nil || json.Unmarshal(parameters.get("schema"), &schema) != nil {
		return document
	}
	drawn := make(ordered, 0, len(schema)+len(folderFields))
	for _, m := range schema {
		drawn = append(drawn, m)
		var f struct{ Title, Format string }
		name := folderFields[m.name]
		if name == "" || json.Unmarshal(m.value, &f) != nil || f.Format != clowderFile || schema.get(name) != nil {
			continue
		}
		// To encode texts cannot fail.
		field, _ := json.Marshal(struct {
			Type        string `json:"type"`
			Title       string `json:"title"`
			Default     string `json:"default"`
			Description string `json:"description"`
		}{
			Type: "string", Title: strings.NewReplacer("File", "Folder", "file", "folder").Replace(f.Title),
			Description: "Name, path or id of a folder, for example imgs/train, in place of a file or together with it.",
		})
		drawn = append(drawn, member{name, field})
	}
	if len(drawn) == len(schema) {
		return document
	}
	// To encode valid JSON cannot fail.
	raw, _ := json.Marshal(drawn)
	raw, _ = json.Marshal(parameters.with("schema", raw))
	return document.with("parameters", raw)
}

// withoutFolders returns the parameters with each folder in the field for the files of its use.
func (i *Info) withoutFolders(raw map[string]any) map[string]any {
	out := maps.Clone(raw)
	for _, f := range i.form {
		name := folderFields[f.Name]
		value, posted := raw[name]
		if name == "" || !posted || f.Format != clowderFile {
			continue
		}
		delete(out, name)
		folder, file := asFolder(value), out[f.Name]
		switch {
		case isBlank(folder):
		case isBlank(file):
			out[f.Name] = folder
		default:
			out[f.Name] = []any{file, folder}
		}
	}
	return out
}

// asFolder marks a name that a user typed as that of a folder. An id and what a selector sends tell it themselves.
func asFolder(value any) any {
	typed, _ := value.(string)
	picks, err := pick.Parse(typed)
	if err != nil || len(picks) != 1 || picks[0].ID != "" || picks[0].Kind != pick.Any {
		return value
	}
	return picks[0].Name + "/"
}

// isBlank reports whether nothing was typed or chosen.
func isBlank(value any) bool {
	words, ok := value.(string)
	return value == nil || ok && strings.TrimSpace(words) == ""
}
