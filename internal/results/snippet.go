package results

import (
	"embed"
	"fmt"
	"strings"
)

// snippets is how to use a model of each kind, and the simple model of each kind, in a few lines of Python beside the folder
// that the archive holds. The trainer's tests run every one of them.
//
//go:embed snippet/*.py
var snippets embed.FS

// Snippet is how to use the model of a training in Python, beside the folder model of model.zip.
func Snippet(r *Result) string { return modelSnippet(r.Model.Kind, r.isRegression()) }

func modelSnippet(kind string, regression bool) string {
	if kind == modelText && regression {
		return snippet("text_regression")
	}
	return snippet(kind)
}

func snippet(name string) string {
	text, err := snippets.ReadFile("snippet/" + name + ".py")
	if err != nil {
		return "" // of a kind that the decoder refuses
	}
	return string(text)
}

// libraries are the Python packages that the snippet needs.
func libraries(kind string) []string {
	switch kind {
	case modelImage:
		return []string{"transformers", "torch", "pillow"}
	case modelTable:
		return []string{"numpy", "safetensors"}
	default:
		return []string{"transformers", "torch"}
	}
}

// loadingGuide says how to use the model in a folder model. versions are those of the libraries that made it, where known.
func loadingGuide(kind string, regression bool, versions map[string]string) string {
	holds := "`model/` is a folder as the transformers library reads it; "
	if kind == modelTable {
		holds = "`model/config.json` says how each column becomes numbers, `model/model.safetensors` holds the layers; "
	}
	var made []string
	for _, name := range libraries(kind) {
		if v := versions[name]; v != "" {
			made = append(made, markdown(name+" "+v))
		}
	}
	note := ""
	if len(made) > 0 {
		note = fmt.Sprintf(" (made with %s)", joinWords(made))
	}
	return "# How to use this model\n\n" + holds + "the weights are in the safetensors format and hold no code.\n" +
		"Unpack the archive, install `" + strings.Join(libraries(kind), "`, `") + "`" + note + ", and run this beside the folder:\n\n" +
		"```python\n" + modelSnippet(kind, regression) + "```\n"
}

// baselineGuide is README.md of baseline.zip.
func baselineGuide(r *Result) string {
	libraries := map[string]string{modelText: "`safetensors` and `numpy`", modelImage: "`pillow`, `safetensors` and `numpy`", modelTable: "`safetensors` and `numpy`"}
	title := "simple model"
	if b := r.baseline(baselineLinear); b != nil {
		title = markdown(shorten(plain(b.Title, title), 60))
	}
	return "# How to use this model\n\nThis is the " + title + " that the trained model was compared with, on the same test rows. " +
		"`baseline/weights.safetensors` holds a weight for every feature and class, `baseline/config.json` says what the features are.\n" +
		"Unpack the archive, install " + libraries[r.Model.Kind] + ", and run this beside the folder:\n\n" +
		"```python\n" + snippet("baseline_"+r.Model.Kind) + "```\n"
}

// reads says in words what the model takes.
func (m Model) reads() string {
	switch m.Kind {
	case modelImage:
		return fmt.Sprintf("pictures, made %d by %d pixels large", m.ImageSize, m.ImageSize)
	case modelTable:
		return "the columns " + someWords(m.Columns, 30)
	default:
		return fmt.Sprintf("up to %s tokens of a text", thousands(m.MaxLength))
	}
}
