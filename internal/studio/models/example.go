package models

import (
	"encoding/json"
	"strings"

	"github.com/ncsa/clowder-ray/internal/answer"
)

// maxExample is how many columns an example of a request names.
const maxExample = 4

// request is a row that a program could send.
func (t tryView) request() map[string]any {
	row := map[string]any{}
	for _, c := range t.Reads.Columns[:min(len(t.Reads.Columns), maxExample)] {
		switch {
		case c.Type == "number":
			row[c.Name] = 1.5
		case c.Type == "image":
			row[c.Name] = "iVBORw0KGgo="
		case len(c.Categories) > 0:
			row[c.Name] = c.Categories[0]
		case c.Type == "text":
			row[c.Name] = "The ending alone is worth it."
		default:
			row[c.Name] = "a"
		}
	}
	return row
}

// Body is the example as a request of the API. A quote could end the argument of a shell, so it is written as JSON can.
func (t tryView) Body() string {
	return shell(map[string]any{"rows": []any{t.request()}})
}

// Python is the same as a literal of Python: no value of an example is written differently there.
func (t tryView) Python() string { return compact(map[string]any{"rows": []any{t.request()}}) }

// Protocol is the example as a request of the protocol.
func (t tryView) Protocol() string {
	tensors, err := tensors(t.Reads, []map[string]any{t.request()})
	if err != nil {
		return ""
	}
	return shell(struct {
		Inputs []answer.Tensor `json:"inputs"`
	}{tensors})
}

func shell(value any) string { return strings.ReplaceAll(compact(value), "'", `\u0027`) }

func compact(value any) string {
	doc, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(doc)
}
