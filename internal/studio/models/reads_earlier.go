package models

import (
	"encoding/json"
	"errors"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
)

// Versions that were made before schema 3 do not say what they read. This file finds it out from their kind, as the trainer did then; new
// kinds describe themselves.

// maxConfig limits config.json, which lists the categories of such a model.
const maxConfig = 4 << 20

// errNoRows says that models of a kind do not answer single rows.
var errNoRows = errors.New("models of this kind do not answer single rows")

func (s *Section) earlierReads(v registry.Version, d results.ModelDescription) ModelReads {
	out := ModelReads{Kind: v.Kind}
	columns, err := earlierColumns(s.Registry.Model(v), v.Kind, d)
	switch {
	case errors.Is(err, errNoRows):
		out.Why = "Models of this kind do not answer single rows. Submit a dataset to ncsa.ray.predict, or download the model: its README has the lines of Python."
	case !v.HasONNX() && !v.IsEstimator():
		out.Why = "This version has no model.onnx, so it answers for datasets only. A version that is trained now has one."
	case err != nil:
		out.Why = unreadable
	default:
		out.Columns = columns
	}
	return out
}

// earlierInputs is the part of trainer.json that describes columns.
type earlierInputs struct {
	Columns []string          `json:"columns"`
	Types   map[string]string `json:"types"`
	Encoder struct {
		Columns []answer.Column `json:"columns"`
	} `json:"encoder"`
}

// earlierColumns are the inputs of a model as trainer/answer names them.
func earlierColumns(model disk.Folder, kind string, d results.ModelDescription) ([]answer.Column, error) {
	ofText := []answer.Column{{Name: "text", Type: "text"}}
	fixed, known := map[string][]answer.Column{"image": {{Name: "image", Type: "image"}}, "tokens": ofText, "text": ofText, "table": nil}[kind]
	if !known {
		return nil, errNoRows
	}
	var inputs earlierInputs
	if err := d.Decode(&inputs); err != nil {
		return nil, err
	}
	for _, name := range inputs.Columns {
		if inputs.Types[name] == "pair" { // a second text
			fixed = append(fixed, answer.Column{Name: name, Type: "text"})
		}
	}
	if len(fixed) > 0 {
		return fixed, nil
	}
	described := inputs.Encoder.Columns
	if len(described) == 0 {
		described = configColumns(model)
	}
	categories := map[string][]string{}
	for _, c := range described {
		categories[c.Name] = c.Categories
	}
	var columns []answer.Column
	for _, name := range inputs.Columns[:min(len(inputs.Columns), maxColumns)] {
		columns = append(columns, answer.Column{Name: name, Type: inputs.Types[name], Categories: categories[name]})
	}
	return columns, nil
}

// configColumns are the columns with their categories in config.json, none where it has none: a form then takes any text.
func configColumns(model disk.Folder) []answer.Column {
	root, err := model.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	var config struct {
		Columns []answer.Column `json:"columns"`
	}
	if doc, err := disk.ReadFile(root, "config.json", maxConfig); err == nil && json.Unmarshal(doc, &config) == nil {
		return config.Columns
	}
	return nil
}
