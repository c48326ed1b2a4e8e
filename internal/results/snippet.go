package results

import (
	"fmt"
	"strings"
)

// How to use a model of each kind, in a few lines of Python beside the folder model.
const (
	snippetText = `from transformers import pipeline

classify = pipeline("text-classification", model="model")
for text in ["a text of yours", "another one"]:
    answer = classify(text, truncation=True)[0]
    print(f"{answer['label']}  {answer['score']:.3f}  {text}")
`
	snippetTextRegression = `from transformers import pipeline

rate = pipeline("text-classification", model="model", function_to_apply="none")
for text in ["a text of yours", "another one"]:
    print(f"{rate(text, truncation=True)[0]['score']:.3f}  {text}")
`
	snippetImage = `from transformers import pipeline

classify = pipeline("image-classification", model="model")
for answer in classify("a picture of yours.png"):
    print(f"{answer['label']}  {answer['score']:.3f}")
`
	snippetTable = `import json
import numpy
from safetensors.numpy import load_file

config, weights = json.load(open("model/config.json")), load_file("model/model.safetensors")

def predict(row):
    x = []
    for c in config["columns"]:
        cell = str(row.get(c["name"], "")).strip()
        if c["type"] == "category":
            x += [float(cell == known) for known in c["categories"]]
        else:
            x.append(numpy.clip((float(cell or c["mean"]) - c["mean"]) / c["std"], -10, 10))
    x = numpy.array(x, numpy.float32)
    for i in range(len(config["layers"]) - 1):
        x = weights[f"layers.{i}.weight"] @ (numpy.maximum(x, 0) if i else x) + weights[f"layers.{i}.bias"]
    return config["labels"][x.argmax()] if config.get("labels") else float(x[0])

print(predict({"a column": 1.5, "another column": "red"}))
`
)

// Snippet is how to use the model of a training in Python, beside the folder model of model.zip.
func Snippet(r *Result) string {
	switch {
	case r.Model.Kind == modelImage:
		return snippetImage
	case r.Model.Kind == modelTable:
		return snippetTable
	case r.isRegression():
		return snippetTextRegression
	default:
		return snippetText
	}
}

// libraries are the Python packages that the snippet needs.
func libraries(r *Result) []string {
	switch r.Model.Kind {
	case modelImage:
		return []string{"transformers", "torch", "pillow"}
	case modelTable:
		return []string{"numpy", "safetensors"}
	default:
		return []string{"transformers", "torch"}
	}
}

// loadingGuide is README.md of the archive.
func loadingGuide(r *Result) string {
	holds := "`model/` is a folder as the transformers library reads it; "
	if r.Model.Kind == modelTable {
		holds = "`model/config.json` says how each column becomes numbers, `model/model.safetensors` holds the layers; "
	}
	var made []string
	for _, name := range libraries(r) {
		if v := r.Versions[name]; v != "" {
			made = append(made, markdown(name+" "+v))
		}
	}
	note := ""
	if len(made) > 0 {
		note = fmt.Sprintf(" (made with %s)", joinWords(made))
	}
	return "# How to use this model\n\n" + holds + "the weights are in the safetensors format and hold no code.\n" +
		"Unpack the archive, install `" + strings.Join(libraries(r), "`, `") + "`" + note + ", and run this beside the folder:\n\n" +
		"```python\n" + Snippet(r) + "```\n\n" +
		"`model_card.md` says what the model is good for, `manifest.json` exactly what it was made from.\n"
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
