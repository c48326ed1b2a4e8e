package models

import (
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxExamples is how many test rows a page offers.
const maxExamples = 9

// example is a test row that fills the form of a page.
type example struct {
	Number int
	// Title says what is special about it.
	Title string
	// Again says that an earlier example has the same title.
	Again bool
	// Hint says what the model answers.
	Hint string
	// Input has the value of each field by its column.
	Input map[string]string
}

// JSON is the input for the script of the page; empty for an image, which the page has once it is chosen.
func (e example) JSON() string {
	if e.Input[imageColumn] != "" {
		return ""
	}
	return compact(e.Input)
}

// imageColumn is what a model of images reads.
const imageColumn = "image"

// maxPicture is the size in bytes of the largest image that is an example.
const maxPicture = 64 << 10

// picture is an image in base64 as the address of a picture in a page; empty where it is not of a form that browsers show.
func picture(encoded string) template.URL {
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(content) > maxPicture {
		return ""
	}
	switch form := http.DetectContentType(content); form {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp":
		return template.URL("data:" + form + ";base64," + base64.StdEncoding.EncodeToString(content)) //nolint:gosec // of a known form, and base64 ends no attribute
	}
	return ""
}

// titles say how a model did on a test row.
var titles = map[string]string{results.ExampleRight: "one it gets right", results.ExampleWrong: "one it gets wrong", results.ExampleUnsure: "one it is unsure of", results.ExampleRow: "a test row"}

// maxHint is how many characters of a row its link has as a title.
const maxHint = 120

// examples are test rows of the training that made the version, as far as the form has a field for all that they hold.
func (s *Section) examples(v registry.Version, reads ModelReads) []example {
	if reads.Why != "" || s.Result == nil {
		return nil
	}
	found := s.Result(v.Run)
	if found == nil {
		return nil
	}
	var out []example
	for _, e := range found.Examples[:min(len(found.Examples), maxExamples)] {
		title, known := titles[e.As]
		if !known || !fits(e.Input, reads) {
			continue
		}
		hint := e.Predicted
		if e.Label != e.Predicted {
			hint += ", not " + e.Label
		}
		again := slices.ContainsFunc(out, func(other example) bool { return other.Title == title })
		out = append(out, example{len(out) + 1, title, again, text.Excerpt(results.Plain("The model says "+hint, ""), maxHint), e.Input})
	}
	return out
}

// fits reports whether the form has a field for each value.
func fits(input map[string]string, reads ModelReads) bool {
	for name, value := range input {
		at := slices.IndexFunc(reads.Columns, func(c answer.Column) bool { return c.Name == name })
		if at < 0 || reads.Columns[at].Type == imageColumn && (name != imageColumn || picture(value) == "") {
			return false
		}
	}
	return len(input) > 0
}

// fill puts the values of an example into the form. number is its place in an address; any other text fills in nothing.
func (t *tryView) fill(number string) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(t.Examples) {
		return
	}
	t.Given = t.Examples[n-1].Input
	if t.Picture = picture(t.Given[imageColumn]); t.Picture != "" {
		t.Chosen = n
	}
}
