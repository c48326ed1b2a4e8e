// Package pick reads what a field of a form says about files and folders of Clowder: an id, a name, a path, the JSON that Clowder's newer
// selector sends, as an object or as a text, and lists of them. It reads the value only; the platform looks for the files.
package pick

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Kind says whether a pick is of a file or a folder.
type Kind string

// The kinds. An id, a name and a path do not tell.
const (
	Any    Kind = ""
	File   Kind = "file"
	Folder Kind = "folder"
)

// Pick is one file or folder.
type Pick struct {
	// ID is Clowder's id, empty for one that is known by its name. Name is a name, or a path in the dataset without a slash at its ends; of a
	// pick with an id it is only shown.
	ID, Name string
	// Dataset is the id of its dataset, where the value says it.
	Dataset string
	Kind    Kind
}

// most is how many files and folders one field may name.
const most = 100

// Parse reads the value of a field. A blank one has no picks. The error continues a sentence that begins with the name of the field.
func Parse(value string) ([]Pick, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return nil, nil
	}
	var picks []Pick
	var err error
	if doc := json.RawMessage(value); strings.ContainsAny(value[:1], `{["`) && json.Valid(doc) {
		picks, err = ofJSON(doc, 0)
	} else {
		picks, err = ofText(value)
	}
	if err == nil && len(picks) > most {
		err = fmt.Errorf("names %d files and folders, the limit is %d: put them into one folder", len(picks), most)
	}
	return picks, err
}

// deepest is how deep texts and lists may be nested in the JSON of a value.
const deepest = 3

var errForm = errors.New("is JSON that is no choice of files: choose the file or folder again")

func ofJSON(doc json.RawMessage, depth int) ([]Pick, error) {
	var words string
	var list []json.RawMessage
	switch {
	case depth > deepest:
		return nil, errForm
	case doc[0] == '{':
		return ofSelector(doc)
	case json.Unmarshal(doc, &words) == nil:
		if inner := json.RawMessage(strings.TrimSpace(words)); len(inner) > 0 && (inner[0] == '{' || inner[0] == '[') && json.Valid(inner) {
			return ofJSON(inner, depth+1)
		}
		return ofText(strings.TrimSpace(words))
	case json.Unmarshal(doc, &list) != nil:
		return nil, errForm
	}
	var picks []Pick
	for _, item := range list {
		more, err := ofJSON(item, depth+1)
		if err != nil {
			return nil, err
		}
		picks = append(picks, more...)
	}
	return picks, nil
}

// ofSelector reads what the selector sends for one file or folder.
func ofSelector(doc json.RawMessage) ([]Pick, error) {
	var selected struct {
		ID      string `json:"selectionID"`
		Name    string `json:"selectionName"`
		Dataset string `json:"datasetId"`
		Type    string `json:"selectionType"`
	}
	if json.Unmarshal(doc, &selected) != nil {
		return nil, errForm
	}
	p := Pick{
		ID: strings.TrimSpace(selected.ID), Name: strings.Trim(text.OneLine(selected.Name), "/"), Dataset: strings.TrimSpace(selected.Dataset),
		Kind: Kind(strings.ToLower(strings.TrimSpace(selected.Type))),
	}
	switch {
	case p.ID == "" && p.Name == "":
		return nil, nil // the selector was opened and closed again
	case p.ID != "" && !message.ValidID(p.ID), p.Dataset != "" && !message.ValidID(p.Dataset):
		return nil, errors.New("has an id that is no id of Clowder: choose the file or folder again")
	case p.Kind != Any && p.Kind != File && p.Kind != Folder:
		return nil, fmt.Errorf("is the choice of a %s: choose a file or a folder", text.Excerpt(string(p.Kind), 40))
	}
	return []Pick{p}, nil
}

// ofText reads ids, separated by commas or blanks, or one name or path.
func ofText(value string) ([]Pick, error) {
	var picks []Pick
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		if !message.ValidID(part) {
			return named(value), nil
		}
		picks = append(picks, Pick{ID: part})
	}
	return picks, nil
}

func named(value string) []Pick {
	p := Pick{Name: strings.Trim(value, "/")}
	if strings.HasSuffix(value, "/") {
		p.Kind = Folder
	}
	if p.Name == "" {
		return nil
	}
	return []Pick{p}
}

// Shown is the pick as a sentence repeats it.
func (p Pick) Shown() string {
	if p.Name != "" {
		return text.Excerpt(p.Name, 80)
	}
	return p.ID
}
