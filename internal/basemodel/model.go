package basemodel

import (
	"time"
)

// ModelFile is the file of an installed model that describes it.
const ModelFile = "model.json"

// modelSchema is the version of model.json that this program writes and reads.
const modelSchema = 1

// Kind is the kind of data that a model reads.
type Kind string

// The kinds. A language model continues a text; it is no base for a classification.
// A model of pixels answers for each pixel of a picture, one of objects finds boxes around objects, one of series forecasts their next steps.
const (
	KindText     Kind = "text"
	KindImage    Kind = "image"
	KindLanguage Kind = "language"
	KindPixels   Kind = "pixels"
	KindObjects  Kind = "objects"
	KindSeries   Kind = "series"
)

// readsPictures tells whether a model of this kind comes with the description of an image processor in place of a tokenizer.
func (k Kind) readsPictures() bool { return k == KindImage || k == KindPixels || k == KindObjects }

// Model is model.json: what an installed model is and where it comes from.
type Model struct {
	Schema int `json:"schema"`
	// ID names the model as <org>/<name>, which is also its folder.
	ID string `json:"id"`
	// Source is where the files come from: hub, folder, zip or bundle.
	Source string `json:"source"`
	// Endpoint is the address of the Hub or of its mirror. Only models of the source hub have one.
	Endpoint string `json:"endpoint,omitempty"`
	// Commit names the revision of the Hub that was loaded. Other sources have none.
	Commit string `json:"commit,omitempty"`
	// Revision is what the operator asked for: a branch, a tag, a commit or a pull request.
	Revision string `json:"revision,omitempty"`
	Facts
	// Digest is a sha256 over the names and hashes of the files that were loaded. It tells whether another installation would load the same.
	Digest string `json:"digest"`
	// License is what the model names or what the operator gave. It is never empty.
	License string `json:"license"`
	// Files are all files of the folder except model.json, sorted by path.
	Files []ModelFileEntry `json:"files"`
	// ConvertedFrom names the files in pickled form from which an earlier version of the service made the safetensors.
	ConvertedFrom []string  `json:"converted_from,omitempty"`
	Installed     time.Time `json:"installed"`
	// Default is true for the model that a training takes when its user chooses none. At most one model of a kind should have it.
	Default bool `json:"default,omitempty"`
}

// Facts is what the files of a model say about it.
type Facts struct {
	Kind Kind `json:"kind"`
	// Architecture is the class of transformers that the weights were saved from, e.g. BertModel. ModelType is its family, e.g. bert.
	Architecture string `json:"architecture"`
	ModelType    string `json:"model_type"`
	// Parameters is the number of values in all tensors of the weights.
	Parameters int64 `json:"parameters"`
}

// ModelFileEntry is one file of an installed model, with its size in bytes and its sha256 in hex.
type ModelFileEntry struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bytes is the size of all files.
func (m Model) Bytes() int64 {
	var sum int64
	for _, f := range m.Files {
		sum += f.Size
	}
	return sum
}
