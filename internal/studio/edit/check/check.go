package check

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/options"
)

// MaxBytes is the size of the largest text that is checked.
const MaxBytes = options.MaxBytes

// Report is what a check found. Without findings and without Skipped the text is right.
type Report struct {
	Findings []options.Finding `json:"findings"`
	// Skipped says why the text was not checked, empty where it was.
	Skipped string `json:"skipped,omitempty" doc:"Why the text was not checked"`
}

// Errors are the findings that end a training before it begins.
func (r Report) Errors() []options.Finding {
	return options.Errors(r.Findings)
}

// Python reads the syntax of Python code without running it. Its error says that it could not.
type Python interface {
	Check(ctx context.Context, code string) ([]options.Finding, error)
}

// Checker checks texts. It is safe for concurrent use.
type Checker struct {
	// Python is nil where the service has no Python.
	Python Python
}

// Check checks the text of a file by its name.
func (c *Checker) Check(ctx context.Context, name, text string) Report {
	return c.check(ctx, name, text, options.IsSettings(name))
}

// Settings checks the text of a file as the settings of a training, whatever its name.
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
	ending := strings.ToLower(path.Ext(name))
	if settings && slices.Contains([]string{".yaml", ".yml", ".json", ".py"}, ending) {
		entries, findings := options.Read(name, text)
		_, refused := options.Of("train").Check(entries)
		return report(append(findings, refused...))
	}
	var findings []options.Finding
	switch ending {
	case ".yaml", ".yml":
		_, findings = options.ReadYAML(text, false)
	case ".json":
		_, findings = options.ReadJSON(text, false)
	case ".toml":
		findings = checkTOML(text)
	case ".py":
		if c.Python == nil {
			return Report{Findings: []options.Finding{}, Skipped: "Python code is not checked here."}
		}
		var err error
		if findings, err = c.Python.Check(ctx, text); err != nil {
			return Report{Findings: []options.Finding{}, Skipped: "The check of Python code did not answer."}
		}
	}
	return report(findings)
}

func report(findings []options.Finding) Report {
	slices.SortStableFunc(findings, func(a, b options.Finding) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	for i := range findings {
		findings[i].EndColumn = max(findings[i].EndColumn, findings[i].Column+1)
	}
	return Report{Findings: append([]options.Finding{}, findings[:min(len(findings), options.MostFindings)]...)}
}
