package report

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
	"github.com/ncsa/clowder-ray/trainer"
)

// snippetOf is how to use the model in Python, beside the folder model of model.zip; empty where nothing is known.
func snippetOf(r *results.Result) string {
	s, _ := trainer.NamedSnippet(r.Usage.Snippet)
	return s.Code
}

// GuideOf says how to use the model of a training in a folder model.
func GuideOf(r *results.Result) string {
	var guide strings.Builder
	guide.WriteString(Guide(r.Usage.Snippet, r.Versions))
	for _, o := range r.Outputs {
		if o.Apart {
			fmt.Fprintf(&guide, "\n`%s` is too large for this archive (%s). It stays with the registered version, and an export of this version by ncsa.ray.runs has it.\n",
				strings.TrimPrefix(o.Path, results.OutDir), text.Bytes(o.Size))
		}
	}
	return guide.String()
}

// Guide says how to use a model in a folder model. snippet names its lines of Python, versions are those of the libraries that made it, where
// known.
func Guide(snippet string, versions map[string]string) string {
	const head = "# How to use this model\n\n"
	s, ok := trainer.NamedSnippet(snippet)
	if !ok {
		return head + "`model/` holds the weights in the safetensors format, which contains no code, and what describes them. This version of the service " +
			"has no lines of Python for a model of this kind. Let it answer for a dataset with the extractor `ncsa.ray.predict`.\n"
	}
	var made []string
	for _, name := range s.Needs {
		if v := versions[name]; v != "" {
			made = append(made, markdown(name+" "+v))
		}
	}
	note := ""
	if len(made) > 0 {
		note = fmt.Sprintf(" (made with %s)", text.List(made))
	}
	return head + s.Holds + "; the weights are in the safetensors format, which contains no code.\n" +
		"Unpack the archive, install `" + strings.Join(s.Needs, "`, `") + "`" + note + ", and run this next to the folder:\n\n" +
		"```python\n" + s.Code + "```\n"
}

// BaselineGuide is README.md of baseline.zip.
func BaselineGuide(r *results.Result) string {
	s, ok := trainer.NamedSnippet(r.Usage.Baseline)
	title := "simple model"
	if b := r.Baseline(results.RoleSimple); b != nil {
		title = markdown(text.Shorten(results.Plain(b.Title, title), 60))
	}
	words := "# How to use this model\n\nThis is the " + title + ", the baseline for the trained model on the same test rows. "
	if !ok {
		return words + "\n"
	}
	return words + s.Holds + ".\nUnpack the archive, install `" + strings.Join(s.Needs, "`, `") + "`, and run this next to the folder:\n\n" +
		"```python\n" + s.Code + "```\n"
}

// reads says in words what the model takes.
func reads(r *results.Result) string {
	return text.Shorten(results.Plain(r.Usage.Input, results.Plain(text.ListSome(r.Model.Columns, 30, 60), "what the data has")), results.MaxText)
}

// answers says in words what the model answers. one begins a list of labels.
func answers(r *results.Result, one string) string {
	switch {
	case r.Usage.Output != "":
		return results.Plain(r.Usage.Output, "")
	case r.PredictsNumbers():
		return "a number in the unit of " + results.Plain(r.Data.LabelColumn, "the target")
	default:
		return one + results.Plain(text.ListSome(r.Model.Labels, 30, 60), "")
	}
}
