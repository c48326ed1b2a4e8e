package options

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Severity says what a finding means for a training.
type Severity string

// An Error ends a training before it begins. A Warning is ignored by it.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one mistake. Line and Column count from 1, in lines and characters; it ends before EndColumn of the same line.
type Finding struct {
	Line      int      `json:"line" doc:"Counts from 1"`
	Column    int      `json:"column" doc:"Counts from 1, in characters"`
	EndColumn int      `json:"end_column"`
	Severity  Severity `json:"severity" enum:"error,warning" doc:"An error ends a training before it begins; a warning does not"`
	Message   string   `json:"message"`
	// Instead is what to write in its place, empty where that is not known.
	Instead string `json:"instead,omitempty" doc:"What to write in its place, where that is known"`

	// option and value are what a name that is no option sets, where that is a single value.
	option, value string
}

// Errors are the findings that end a training before it begins.
func Errors(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Severity != Error })
}

// MostFindings limits what one text is told.
const MostFindings = 100

// Place is a position in a text; both count from 1. The zero value is of a source without lines, such as a form.
type Place struct{ Line, Column int }

// PlaceOf returns the position of a byte.
func PlaceOf(text string, offset int) Place {
	before := text[:max(0, min(offset, len(text)))]
	start := strings.LastIndexByte(before, '\n') + 1
	return Place{strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1}
}

// Fault is a mistake in the syntax, after which the text is not read.
func Fault(at Place, message string) []Finding {
	return []Finding{{Line: max(1, at.Line), Column: max(1, at.Column), EndColumn: max(1, at.Column) + 1, Severity: Error, Message: message}}
}

// mistake is an error about what takes so many characters.
func mistake(at Place, width int, message string) Finding {
	return Finding{Line: at.Line, Column: at.Column, EndColumn: at.Column + width, Severity: Error, Message: message}
}
