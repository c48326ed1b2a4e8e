package models

import (
	"slices"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
)

// maxColumns is how many fields a form has.
const maxColumns = 200

// ModelReads is what a version reads of a row.
type ModelReads struct {
	Kind    string          `json:"kind" doc:"The kind of data, such as text, tokens, image or table"`
	Columns []answer.Column `json:"columns"`
	// Why says why it does not answer single rows, as a sentence; empty where it does.
	Why string `json:"why,omitempty"`
	// Unexplained is true where an answer comes without its reasons.
	Unexplained bool `json:"unexplained,omitempty" doc:"True where it does not say why it gives an answer"`
}

// Cells says that all inputs are cells of a row, which a form shows side by side.
func (r ModelReads) Cells() bool {
	return !slices.ContainsFunc(r.Columns, func(c answer.Column) bool { return c.Type == "text" || c.Type == imageColumn })
}

// reads says what a version reads, as its description says it.
func (s *Section) reads(v registry.Version) ModelReads {
	d, err := results.ReadDescription(s.Registry.Model(v))
	if err != nil {
		return ModelReads{Kind: v.Kind, Why: unreadable}
	}
	if d.Use == nil {
		return s.earlierReads(v, d)
	}
	out := ModelReads{Kind: v.Kind, Unexplained: d.Use.Unexplained}
	if len(d.Use.Fields) == 0 {
		out.Why = results.Plain(d.Use.Why, "Models of this kind do not answer single rows. Let this one answer for a dataset.")
	}
	for _, f := range d.Use.Fields[:min(len(d.Use.Fields), maxColumns)] {
		out.Columns = append(out.Columns, answer.Column(f))
	}
	return out
}

// unreadable says what to do about a version whose files are damaged or gone.
const unreadable = "The files of this version cannot be read. Try another version, or ask the administrator."
