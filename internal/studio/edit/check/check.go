package check

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the size of the largest text that is checked. The trainer reads no larger settings file.
const MaxBytes = 1 << 20

// maxFindings limits what one check reports.
const maxFindings = 100

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
}

// Report is what a check found. Without findings and without Skipped the text is right.
type Report struct {
	Findings []Finding `json:"findings"`
	// Skipped says why the text was not checked, empty where it was.
	Skipped string `json:"skipped,omitempty" doc:"Why the text was not checked"`
}

// Errors are the findings that end a training before it begins.
func (r Report) Errors() []Finding {
	var found []Finding
	for _, f := range r.Findings {
		if f.Severity == Error {
			found = append(found, f)
		}
	}
	return found
}

// Python reads the syntax of Python code without running it. Its error says that it could not.
type Python interface {
	Check(ctx context.Context, code string) ([]Finding, error)
}

// Checker checks texts. It is safe for concurrent use.
type Checker struct {
	// Python is nil where the service has no Python.
	Python Python
}

// IsSettings reports whether a training reads its settings from a file of this name by itself.
func IsSettings(name string) bool {
	switch strings.ToLower(path.Base(name)) {
	case "finetune.yaml", "finetune.yml", "finetune.json":
		return true
	}
	return false
}

// Check checks the text of a file by its name.
func (c *Checker) Check(ctx context.Context, name, text string) Report {
	return c.check(ctx, name, text, IsSettings(name))
}

// Settings checks the text of a file as the settings of a training, whatever its name. Of Python code it checks the syntax only.
func (c *Checker) Settings(ctx context.Context, name, text string) Report {
	return c.check(ctx, name, text, true)
}

func (c *Checker) check(ctx context.Context, name, text string, settings bool) Report {
	if len(text) > MaxBytes {
		return Report{Skipped: "It is larger than 1 MB."}
	}
	if !utf8.ValidString(text) {
		return Report{Skipped: "It is not UTF-8 text."}
	}
	var findings []Finding
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		findings = checkYAML(text, settings)
	case ".json":
		findings = checkJSON(text, settings)
	case ".toml":
		findings = checkTOML(text)
	case ".py":
		if c.Python == nil {
			return Report{Findings: []Finding{}, Skipped: "Python code is not checked here."}
		}
		var err error
		if findings, err = c.Python.Check(ctx, text); err != nil {
			return Report{Findings: []Finding{}, Skipped: "The check of Python code did not answer."}
		}
	}
	return report(findings)
}

func report(findings []Finding) Report {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	for i := range findings {
		findings[i].EndColumn = max(findings[i].EndColumn, findings[i].Column+1)
	}
	return Report{Findings: append([]Finding{}, findings[:min(len(findings), maxFindings)]...)}
}

// place is a position in a text; both count from 1.
type place struct{ line, column int }

// placeOf returns the position of a byte.
func placeOf(text string, offset int) place {
	before := text[:max(0, min(offset, len(text)))]
	start := strings.LastIndexByte(before, '\n') + 1
	return place{strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1}
}

// fault is a mistake in the syntax, from which on nothing is known.
func fault(at place, message string) []Finding {
	return []Finding{{Line: max(1, at.line), Column: max(1, at.column), Severity: Error, Message: message}}
}
