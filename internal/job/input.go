package job

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
	// Label is what a person has written into the metadata of the file, where the job takes labels from there.
	Label string `json:"label,omitempty"`
	// Source is the address of the object that the file came from, empty for a file of the dataset.
	Source string `json:"source,omitempty"`
}
