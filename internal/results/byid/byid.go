// Package byid reads ids.json: the answers to rows without a label and the labels of rows, each by the id of its row.
package byid

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// File has the answers and the labels of rows by their ids. The trainer writes it before the result, where rows have ids.
const File = "ids.json"

const (
	schema = 1
	// maxFile is the size in bytes of the largest File that is read.
	maxFile = 32 << 20
	// maxRows is how many answers, and how many labels, are read, and maxAnswer how many bytes each has.
	maxRows, maxAnswer = 20_000, 1000
)

// digestForm is how a row is named: the beginning of a sha256 of its id.
var digestForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Document has answers to rows and labels of rows, by digests of their ids.
type Document struct {
	Schema  int    `json:"schema"`
	Run     string `json:"run"`
	Attempt int    `json:"attempt"`
	// Form is how an answer and a label are compared: class or number.
	Form string `json:"form"`
	// Rows is how many rows without a label have an id, Answers the answers to them or to a part of them. Repeated is how many ids stand in several of
	// these rows, which are left out. Listed are those of them that were proposed for labelling.
	Rows     int               `json:"rows"`
	Answers  map[string]string `json:"answers"`
	Repeated int               `json:"repeated"`
	Listed   []string          `json:"listed"`
	// Labels are the labels of rows. Contradicting is how many ids have several different ones, which are left out.
	Labels        map[string]string `json:"labels"`
	Contradicting int               `json:"contradicting"`
}

// Read reads what attempt of run left by ids; nil where it left nothing.
func Read(dir disk.Folder, run string, attempt int) (*Document, error) {
	root, err := results.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	doc, err := results.ReadBounded(root, File, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // most runs have no ids
	}
	if err != nil {
		return nil, err
	}
	found, err := Decode(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	if found.Run != run || found.Attempt != attempt {
		return nil, nil //nolint:nilnil // an earlier attempt left it
	}
	return found, nil
}

// Decode reads the content of File and checks it. The error is one short line.
func Decode(doc []byte) (*Document, error) {
	var b Document
	if err := json.Unmarshal(doc, &b); err != nil {
		return nil, fmt.Errorf("it is no JSON of this form: %w", err)
	}
	switch {
	case b.Schema != schema:
		return nil, fmt.Errorf("it has schema %d, this program reads %d", b.Schema, schema)
	case b.Form != FormClass && b.Form != FormNumber:
		return nil, fmt.Errorf("the form %q is neither %s nor %s", text.Excerpt(b.Form, 40), FormClass, FormNumber)
	case len(b.Answers) > maxRows || len(b.Labels) > maxRows || len(b.Listed) > maxRows:
		return nil, fmt.Errorf("it has more than %s answers or labels", text.Number(maxRows))
	case b.Rows < len(b.Answers) || b.Repeated < 0 || b.Contradicting < 0:
		return nil, errors.New("its numbers of rows do not fit together")
	}
	for _, of := range []map[string]string{b.Answers, b.Labels} {
		for id, said := range of {
			if !digestForm.MatchString(id) || said == "" || len(said) > maxAnswer || !utf8.ValidString(said) {
				return nil, fmt.Errorf("the entry %q cannot be of a row", text.Excerpt(id, 40))
			}
		}
	}
	for _, id := range b.Listed {
		if _, ok := b.Answers[id]; !ok {
			return nil, fmt.Errorf("the row %q was proposed and not answered", text.Excerpt(id, 40))
		}
	}
	return &b, nil
}

// How an answer and a label are compared.
const (
	FormClass  = "class"
	FormNumber = "number"
)
