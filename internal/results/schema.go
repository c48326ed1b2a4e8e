package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/ncsa/clowder-ray/internal/text"
	"github.com/ncsa/clowder-ray/trainer/schema"
)

// The schemas of the files that a run may leave.
const (
	resultSchema  = "result.schema.json"
	failureSchema = "error.schema.json"
)

// compiledSchemas are compiled when the first file of a run is read, and once.
var compiledSchemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	names, err := fs.Glob(schema.Files, "*.schema.json")
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	for _, name := range names {
		body, err := schema.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		withoutRequired(doc)
		if err := c.AddResource(name, doc); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range []string{resultSchema, failureSchema} {
		if compiled[name], err = c.Compile(name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return compiled, nil
})

// withoutRequired drops the lists of required properties. What is validated is a decoded value, which leaves properties out because
// they are zero; the parts that a result needs are checked where it is decoded.
func withoutRequired(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		delete(doc, "required")
		for _, v := range doc {
			withoutRequired(v)
		}
	case []any:
		for _, v := range doc {
			withoutRequired(v)
		}
	}
}

// validate checks a decoded value against a schema. Decoded, because the decoder also accepts names in other capitals, which a
// validator of the document would not see. The caller has bounded the size of v. The error is one short line.
func validate(name string, v any) error {
	schemas, err := compiledSchemas()
	if err != nil {
		return fmt.Errorf("compile the schemas of the trainer: %w", err)
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	// Plain numbers: the validator computes with fractions, and one of a text such as 1e999999999 would fill the memory.
	var decoded any
	if err := json.Unmarshal(doc, &decoded); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	err = schemas[name].Validate(decoded)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(firstViolation(invalid))
	}
	return err
}

// firstViolation is the violation whose place comes first in the alphabet, so that the same document always gives the same error.
func firstViolation(e *jsonschema.ValidationError) string {
	printer := message.NewPrinter(language.English)
	first := ""
	var visit func(e *jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			visit(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		place := cmp.Or(text.Excerpt(strings.Join(e.InstanceLocation, "."), 120), "the document")
		found := place + ": " + text.Excerpt(e.ErrorKind.LocalizedString(printer), 200)
		if first == "" || cmp.Less(found, first) {
			first = found
		}
	}
	visit(e)
	return first
}
