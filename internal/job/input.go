package job

import (
	"path"
	"strings"
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
	// Source is the address of the object that the file came from, empty for a file of the dataset.
	Source string `json:"source,omitempty"`
}

// SettingsFile is the file of the dataset from which a training takes options, as it was when it was staged.
type SettingsFile struct {
	ID      string `json:"id,omitempty"`
	Name    string `json:"name"`
	Version int    `json:"version,omitempty"`
	SHA256  string `json:"sha256"`
}

// SettingsFileOf returns the settings file among the inputs of a training: the one that the user chose by its id, its path or its name, else
// the file called finetune.yaml that is nearest to the root. It is nil where there is none. The trainer chooses in the same way.
func SettingsFileOf(inputs []Input, chosen string) *SettingsFile {
	var found *Input
	for i, in := range inputs {
		switch {
		case chosen != "":
			if chosen == in.ID || chosen == in.Name {
				found = &inputs[i]
			} else if found == nil && chosen == path.Base(in.Name) {
				found = &inputs[i]
			}
		case isSettings(in.Name) && (found == nil || before(in.Name, found.Name)):
			found = &inputs[i]
		}
	}
	if found == nil {
		return nil
	}
	return &SettingsFile{ID: found.ID, Name: found.Name, Version: found.Version, SHA256: found.SHA256}
}

func isSettings(name string) bool {
	switch strings.ToLower(path.Base(name)) {
	case "finetune.yaml", "finetune.yml", "finetune.json":
		return true
	}
	return false
}

// before reports whether a is nearer to the root than b, or comes before it beside it.
func before(a, b string) bool {
	if deep, other := strings.Count(a, "/"), strings.Count(b, "/"); deep != other {
		return deep < other
	}
	return a < b
}
