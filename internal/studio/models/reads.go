package models

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/registry"
)

const (
	// maxDescription limits the files that say what a model reads. A table with very many categories has larger ones: its fields are then
	// without a list.
	maxDescription = 4 << 20
	// maxColumns is how many fields a form has.
	maxColumns = 200
)

// kinds are the kinds of models that answer single rows.
var kinds = []string{"text", kindTokens, "image", "table"}

// kindTokens is the kind of models that give words tags.
const kindTokens = "tokens"

// ModelReads is what a version reads, and whether it answers single rows.
type ModelReads struct {
	Kind    string          `json:"kind" doc:"text, tokens, image or table"`
	Columns []answer.Column `json:"columns"`
	// Why says why it does not answer single rows, as a sentence; empty where it does.
	Why string `json:"why,omitempty"`
}

// reads finds out what a version reads from the files in the registry, so that no process is needed to show a form.
func (s *Section) reads(v registry.Version) ModelReads {
	out := ModelReads{Kind: v.Kind}
	switch {
	case !slices.Contains(kinds, v.Kind):
		out.Why = whyNot(v.Kind)
		return out
	case !v.HasONNX() && !v.IsEstimator():
		out.Why = "This version has no model.onnx, so it answers for datasets only. A version that is trained now has one."
		return out
	}
	columns, err := columnsOf(s.Registry.Model(v))
	if err != nil {
		out.Why = "The files of this version cannot be read. Try another version, or ask the administrator."
		return out
	}
	out.Columns = columns
	return out
}

// whyNot says how to get answers of a kind of models that does not answer single rows.
func whyNot(kind string) string {
	switch kind {
	case "language":
		return "A language model writes one token after the other with torch, which the small process here does not have. Submit a dataset with " +
			"your prompts to ncsa.ray.predict, or download the model: its README has the lines of Python that continue a text."
	case "graph":
		return "An answer about a node or a pair needs the graph around it. Submit the dataset to ncsa.ray.predict with the nodes or pairs to ask " +
			"about, or download the model: its README has the lines of Python that answer for some of them."
	default:
		return "Models of this kind do not answer single rows. Let this one answer for a dataset."
	}
}

// description is trainer.json, and the part of config.json that describes columns.
type description struct {
	Kind    string            `json:"kind"`
	Columns []string          `json:"columns"`
	Types   map[string]string `json:"types"`
	Encoder struct {
		Columns []answer.Column `json:"columns"`
	} `json:"encoder"`
}

// columnsOf reads the inputs of a model as trainer/answer names them.
func columnsOf(model disk.Folder) ([]answer.Column, error) {
	root, err := model.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	doc, err := disk.ReadFile(root, "trainer.json", maxDescription)
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, fmt.Errorf("decode trainer.json: %w", err)
	}
	switch d.Kind {
	case "image":
		return []answer.Column{{Name: "image", Type: "image"}}, nil
	case kindTokens:
		return []answer.Column{{Name: "text", Type: "text"}}, nil
	case "text":
		columns := []answer.Column{{Name: "text", Type: "text"}}
		for _, name := range d.Columns {
			if d.Types[name] == "pair" {
				columns = append(columns, answer.Column{Name: name, Type: "text"})
			}
		}
		return columns, nil
	}
	known := map[string][]string{}
	described := d.Encoder.Columns
	if len(described) == 0 {
		var config struct {
			Columns []answer.Column `json:"columns"`
		}
		if doc, err := disk.ReadFile(root, "config.json", maxDescription); err == nil && json.Unmarshal(doc, &config) == nil {
			described = config.Columns
		}
	}
	for _, c := range described {
		known[c.Name] = c.Categories
	}
	var columns []answer.Column
	for _, name := range d.Columns[:min(len(d.Columns), maxColumns)] {
		columns = append(columns, answer.Column{Name: name, Type: d.Types[name], Categories: known[name]})
	}
	return columns, nil
}
