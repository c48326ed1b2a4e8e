package results

import (
	"encoding/json"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// Usage is how a model is used, as its kind says it. The lines of Python are a part of the trainer that the service holds itself: a result only
// names them.
type Usage struct {
	// Snippet names the lines for the model, Baseline those for the simple model, empty for none.
	Snippet  string `json:"snippet" pattern:"^[a-z_]{1,40}/[a-z_]{1,40}$"`
	Baseline string `json:"baseline,omitempty" pattern:"^[a-z_]{1,40}/[a-z_]{1,40}$"`
	// Input and Output say what the model reads and answers. Origin says what it is made of, empty for the base model.
	Input  string `json:"input" required:"false"`
	Output string `json:"output,omitempty"`
	Origin string `json:"origin,omitempty"`
	// Limits are sentences of the model card about what the model must not be used for.
	Limits []string `json:"limits,omitempty" maxItems:"10"`
}

// MaxLimits is how many sentences about limits the model card takes.
const MaxLimits = 10

// ModelDescription is the part of trainer.json, beside the weights of a model, that says how the model is used.
type ModelDescription struct {
	Kind string `json:"kind"`
	Task string `json:"task"`
	Base string `json:"base"`
	// Use is nil for a model that was made before schema 3.
	Use *ModelUse `json:"use,omitempty"`

	doc []byte
}

// ModelUse says how a model is used.
type ModelUse struct {
	// Snippet names the lines of Python that load the model: see Usage.
	Snippet string `json:"snippet"`
	// Fields are the inputs of a single answer, none where Why says why the model gives none.
	Fields []Field `json:"fields,omitempty"`
	Why    string  `json:"why,omitempty"`
	// Unexplained is true for a model that does not say why it gives an answer.
	Unexplained bool `json:"unexplained,omitempty"`
}

// Field is one input. Type is text, image, number or category.
type Field struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Categories []string `json:"categories,omitempty"`
}

const (
	descriptionFile = "trainer.json"
	// maxDescription limits the files that say what a model reads. A table with very many categories has larger ones: its fields are then
	// without a list.
	maxDescription = 4 << 20
)

// ReadDescription reads how the model in a folder is used.
func ReadDescription(model disk.Folder) (ModelDescription, error) {
	root, err := model.Open()
	if err != nil {
		return ModelDescription{}, err
	}
	defer func() { _ = root.Close() }()
	doc, err := disk.ReadFile(root, descriptionFile, maxDescription)
	if err != nil {
		return ModelDescription{}, err
	}
	d := ModelDescription{doc: doc}
	if err := d.Decode(&d); err != nil {
		return ModelDescription{}, err
	}
	return d, nil
}

// Decode decodes the whole of trainer.json into v.
func (d ModelDescription) Decode(v any) error {
	if err := json.Unmarshal(d.doc, v); err != nil {
		return fmt.Errorf("decode %s: %w", descriptionFile, err)
	}
	return nil
}

// SnippetOf names the lines of Python that load the model. has reports whether its folder has a file.
func (d ModelDescription) SnippetOf(has func(file string) bool) string {
	if d.Use != nil {
		return d.Use.Snippet
	}
	return EarlierSnippet(d.Kind, d.Base, d.Task, has)
}
