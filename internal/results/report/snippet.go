package report

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/graphs"
	"github.com/ncsa/clowder-ray/internal/text"
)

// snippets is how to use a model of each kind, and the simple model of each kind, in a few lines of Python beside the folder
// that the archive holds. The trainer's tests run every one of them.
//
//go:embed snippet/*.py
var snippets embed.FS

// ModelForm is what decides how a model is loaded.
type ModelForm struct {
	// Base is what the model started from, Kind the kind of its data.
	Base, Kind string
	// Regression says that it predicts numbers, MeanPooled that it is an encoder under a linear head in HeadFile, and Links that it
	// predicts the edges of a graph.
	Regression, MeanPooled, Links bool
	// WithWords says that the estimator words lies beside the network and answers together with it.
	WithWords bool
	// Apart says that the graph which the model reads is too large for the archive.
	Apart bool
}

// HeadFile is the linear head beside an encoder whose own weights were left as they are, WordsFile the description of the estimator
// words beside a network.
const (
	HeadFile  = "head.safetensors"
	WordsFile = "words.json"
)

// FormOf is the form of the model of a training.
func FormOf(r *results.Result) ModelForm {
	return ModelForm{
		Base: r.Model.Base, Kind: r.Model.Kind, Regression: r.IsRegression(), MeanPooled: r.Model.Pooling != "", Links: r.PredictsLinks(),
		WithWords: r.Model.AveragedWith != "",
		Apart:     r.Graph != nil && r.Graph.Stored != nil && !r.Graph.Stored.Delivered,
	}
}

// Snippet is how to use the model in Python, beside the folder model of model.zip. An estimator, such as words, has code with its
// own name.
func (f ModelForm) Snippet() string {
	switch {
	case f.Kind == results.ModelGraph && !f.Links:
		return SnippetFile("graph_nodes")
	case f.Kind == results.ModelGraph:
		return SnippetFile("graph")
	case isEstimator(f.Base):
		return SnippetFile(f.Base)
	case f.MeanPooled:
		return SnippetFile("text_mean")
	case f.WithWords:
		return SnippetFile("text_words")
	case f.Kind == results.ModelText && f.Regression:
		return SnippetFile("text_regression")
	default:
		return SnippetFile(f.Kind)
	}
}

// SnippetFile is the code with that name, empty for an unknown name.
func SnippetFile(name string) string {
	words, err := snippets.ReadFile("snippet/" + name + ".py")
	if err != nil {
		return "" // of a kind that the decoder refuses
	}
	return string(words)
}

// isEstimator reports whether a base is one of the models that scikit-learn fits.
func isEstimator(base string) bool { return slices.Contains(estimators, base) }

// estimators are the models that scikit-learn fits, each with a snippet of its name.
var estimators = []string{"words", "linear", "trees", "perceptron"}

// libraries are the Python packages that the snippet needs.
func (f ModelForm) libraries() []string {
	base, kind := f.Base, f.Kind
	if f.WithWords {
		return []string{"transformers", "torch", "scikit-learn", "safetensors", "numpy"}
	}
	if kind == results.ModelGraph {
		return []string{"numpy", "scipy", "safetensors"}
	}
	if isEstimator(base) && kind == results.ModelText {
		return []string{"scikit-learn", "safetensors", "numpy"}
	}
	switch kind {
	case results.ModelImage:
		return []string{"transformers", "torch", "pillow"}
	case results.ModelTable:
		return []string{"numpy", "safetensors"}
	case results.ModelLanguage:
		return []string{"transformers", "torch", "peft"}
	default:
		return []string{"transformers", "torch"}
	}
}

// Guide says how to use the model in a folder model. versions are those of the libraries that made it, where known.
func (f ModelForm) Guide(versions map[string]string) string {
	holds := "`model/` is a folder in the format of the transformers library; "
	switch {
	case f.Kind == results.ModelGraph && f.Apart:
		holds = "`model/` has what was learnt. `model/graph.safetensors`, the nodes with their edges and features, is too large for this archive; " +
			"it stays with the registered version, and an export of this version by ncsa.ray.runs has both; "
	case f.Kind == results.ModelGraph:
		holds = "`model/graph.safetensors` has the nodes, their edges and their features, and the other files in `model/` have what was learnt; "
	case isEstimator(f.Base) && f.Kind == results.ModelTable:
		holds = "`model/config.json` describes the columns, and `model/weights.safetensors` holds what was learnt; "
	case isEstimator(f.Base):
		holds = "`model/config.json` says what the model reads, JSON files beside it name the features, and `model/weights.safetensors` holds the weights; "
	case f.WithWords:
		holds = "`model/` is a network in the format of the transformers library; beside it, `model/" + WordsFile + "`, `model/words.safetensors` and `model/terms.json` " +
			"hold the model on words and characters, and the answer is the mean of both. `model/model.onnx`, where it is there, is the network alone; "
	case f.MeanPooled:
		holds = "`model/` is an encoder in the format of the transformers library, and `model/" + HeadFile + "` holds the linear model on the mean of its token vectors; "
	case f.Kind == results.ModelTable:
		holds = "`model/config.json` says how each column is converted to numbers, and `model/model.safetensors` holds the weights; "
	}
	var made []string
	for _, name := range f.libraries() {
		if v := versions[name]; v != "" {
			made = append(made, markdown(name+" "+v))
		}
	}
	note := ""
	if len(made) > 0 {
		note = fmt.Sprintf(" (made with %s)", text.List(made))
	}
	return "# How to use this model\n\n" + holds + "the weights are in the safetensors format, which contains no code.\n" +
		"Unpack the archive, install `" + strings.Join(f.libraries(), "`, `") + "`" + note + ", and run this next to the folder:\n\n" +
		"```python\n" + f.Snippet() + "```\n"
}

// BaselineGuide is README.md of baseline.zip.
func BaselineGuide(r *results.Result) string {
	libraries := map[string]string{results.ModelText: "`safetensors` and `numpy`", results.ModelImage: "`pillow`, `safetensors` and `numpy`", results.ModelTable: "`safetensors` and `numpy`"}
	title := "simple model"
	if b := r.Baseline(results.BaselineLinear); b != nil {
		title = markdown(text.Shorten(results.Plain(b.Title, title), 60))
	}
	return "# How to use this model\n\nThis is the " + title + ", the baseline for the trained model on the same test rows. " +
		"`baseline/weights.safetensors` holds a weight for every feature and class, and `baseline/config.json` describes the features.\n" +
		"Unpack the archive, install " + libraries[r.Model.Kind] + ", and run this next to the folder:\n\n" +
		"```python\n" + SnippetFile("baseline_"+r.Model.Kind) + "```\n"
}

// languageOutput is what a language model answers.
const languageOutput = "text that continues the input"

// reads says in words what the model takes.
func reads(m results.Model) string {
	switch m.Kind {
	case results.ModelText:
		if isEstimator(m.Base) {
			return "text in any language"
		}
		return fmt.Sprintf("text, up to %s tokens", text.Number(m.MaxLength))
	case results.ModelTokens, results.ModelLanguage:
		return fmt.Sprintf("text, up to %s tokens", text.Number(m.MaxLength))
	case results.ModelImage:
		return fmt.Sprintf("images, resized to %d by %d pixels", m.ImageSize, m.ImageSize)
	case results.ModelGraph:
		return graphs.Reads(m)
	case results.ModelTable:
		return "the columns " + text.ListSome(m.Columns, 30, 60)
	default:
		return m.Kind
	}
}
