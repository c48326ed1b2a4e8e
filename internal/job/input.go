package job

import (
	"path"
	"slices"

	"github.com/ncsa/clowder-ray/internal/options"
)

// Input is one file of the dataset in the inputs folder of a run. inputs.json, beside that folder, lists them.
type Input struct {
	// ID is Clowder's id of the file, empty for a file that came from a local folder.
	ID string `json:"id,omitempty"`
	// Name is the path that the user sees in the dataset, with slashes.
	Name string `json:"name"`
	// Path is where the file lies, relative to the inputs folder; it is safe to join.
	Path        string `json:"path"`
	Size        int64  `json:"size"`
	SHA256      string `json:"sha256"`
	ContentType string `json:"content_type,omitempty"`
	// Version is the number of the file's version in Clowder, 0 where the place of the file counts none.
	Version int `json:"version,omitempty"`
	// Label is what a person has written into the metadata of the file, where the job takes labels from there.
	Label string `json:"label,omitempty"`
	// Columns are several such labels, where the job takes several; then Label is empty. A file has all of them or none.
	Columns []Column `json:"columns,omitempty"`
	// Source is the address of the object or of the other dataset that the file came from, empty for a file of the dataset.
	Source string `json:"source,omitempty"`
	// Dataset is the name of the dataset that the file came from, and DatasetID its id, where a job reads several. No two of them have the same name.
	Dataset   string `json:"dataset,omitempty"`
	DatasetID string `json:"dataset_id,omitempty"`
	// Chosen says which field of the form names the file, nil for none.
	Chosen *Choice `json:"-"`
}

// Column is one of several labels of a file. The value is empty where the file lacks it.
type Column struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NotRead is a file of the dataset that a job did not get, and why, as the end of a sentence.
type NotRead struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// SettingsFile is the file of the dataset from which a training takes options, as it was when it was staged.
type SettingsFile struct {
	ID      string `json:"id,omitempty"`
	Name    string `json:"name"`
	Version int    `json:"version,omitempty"`
	SHA256  string `json:"sha256"`
}

// SettingsFiles returns the files among the inputs of a training that hold its settings: the one that the user chose by its id, its path or
// its name, and the one called finetune.yaml that is nearest to the root, unless it is the same. Each is nil where there is none.
func SettingsFiles(inputs []Input, chosen string) (named, nearest *Input) {
	for _, same := range []func(Input) bool{
		func(in Input) bool { return chosen == in.ID || chosen == in.Name },
		func(in Input) bool { return chosen == path.Base(in.Name) },
	} {
		if at := slices.IndexFunc(inputs, same); at >= 0 && chosen != "" && named == nil {
			named = &inputs[at]
		}
	}
	for i, in := range inputs {
		if options.IsSettings(in.Name) && (nearest == nil || options.Better(in.Name, nearest.Name)) && named != &inputs[i] {
			nearest = &inputs[i]
		}
	}
	return named, nearest
}

// SettingsFileOf describes the settings file of a training, nil for none: the one that the user chose, if they chose one.
func SettingsFileOf(inputs []Input, chosen string) *SettingsFile {
	used, nearest := SettingsFiles(inputs, chosen)
	if chosen == "" {
		used = nearest
	}
	if used == nil {
		return nil
	}
	return &SettingsFile{ID: used.ID, Name: used.Name, Version: used.Version, SHA256: used.SHA256}
}
