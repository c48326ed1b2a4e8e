package results

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// snippet is how to use the model, in six lines of Python.
const snippet = `from transformers import pipeline

classify = pipeline("text-classification", model="model")
for text in ["a text of yours", "another one"]:
    answer = classify(text, truncation=True)[0]
    print(f"{answer['label']}  {answer['score']:.3f}  {text}")
`

// loadingGuide is README.md of the archive.
func loadingGuide(r *Result) string {
	return "# How to use this model\n\n" +
		"`model/` is a folder as the transformers library reads it; the weights are in the safetensors format and hold no code.\n" +
		"Unpack the archive, install `transformers` and `torch`" + versionsNote(r) + ", and run this beside the folder:\n\n" +
		"```python\n" + snippet + "```\n\n" +
		"`model_card.md` says what the model is good for, `manifest.json` exactly what it was made from.\n"
}

func versionsNote(r *Result) string {
	transformers, torch := r.Versions["transformers"], r.Versions["torch"]
	if transformers == "" || torch == "" {
		return ""
	}
	return fmt.Sprintf(" (made with %s and %s)", markdown(transformers), markdown(torch))
}

// writeCard writes model_card.md: what the model is, how good, and what it must not be used for.
func writeCard(w io.Writer, m Meta, r *Result) error {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	v := NewVerdict(r)
	origin := "fine-tuned from " + markdown(r.Model.Base)
	if r.Model.FromScratch {
		origin = "trained from random weights (" + markdown(r.Model.Base) + ")"
	}
	p("# Model card: %s\n\n", markdown(m.DatasetName))
	p("%s. %s.\n\n", v.Word, markdown(v.Sentence))
	p("A model for %s, %s, with %s parameters. It reads up to %d tokens of a text and answers with one of %d labels: %s.\n\n",
		markdown(r.Task), origin, thousands(r.Model.Parameters), r.Model.MaxLength, len(r.Model.Labels), markdown(someWords(r.Model.Labels, 20)))

	p("## Scores\n\n| Rows | Metric | Value | 95 %% interval | Number of rows |\n|---|---|---:|---|---:|\n")
	for split, scores := range r.Splits() {
		for metric, s := range sorted(scores) {
			interval := ""
			if s.Low != nil && s.High != nil {
				interval = figure(*s.Low) + " to " + figure(*s.High)
			}
			p("| %s | %s | %s | %s | %s |\n", split, markdown(title(metric)), figure(s.Value), interval, thousands(s.N))
		}
	}
	p("\nThe test rows were held out: neither training nor the choice of the best epoch saw them.\n\n")

	p("## Data\n\nDataset %s; files %s. Text from %s, label from %s. %s rows to train on, %s to choose the best epoch by, %s to test.\n\n",
		markdown(m.DatasetName), markdown(someWords(r.Data.Files, 20)), markdown(joinWords(r.Data.InputColumns)), markdown(r.Data.LabelColumn),
		thousands(r.Data.Rows.Train), thousands(r.Data.Rows.Validation), thousands(r.Data.Rows.Test))
	if len(r.Warnings) > 0 {
		p("## Warnings\n\n")
		for _, warning := range r.Warnings[:min(len(r.Warnings), maxNotes)] {
			p("- %s\n", markdown(warning.Text))
		}
		p("\n")
	}
	p("## Training\n\n%s epochs (%s), the model of epoch %s was kept. Seed %d, batch size %d, learning rate %s, %s on %s, %s.\n\n",
		trim(r.Training.Epochs), markdown(r.Training.Stopped), trim(r.BestEpoch), r.Training.Seed, r.Training.BatchSize, number(r.Training.LearningRate),
		plural(r.Training.Workers, "worker"), markdown(r.Training.Device), spell(seconds(r.Training.Seconds)))
	p("## Limits\n\nThe model knows only texts like those in its training rows, and repeats whatever their labels got wrong. " +
		"Test it on texts of your own before you rely on it, and do not let it decide alone on people.\n\n")
	p("## Use\n\n```python\n%s```\n\n", snippet)
	p("Made by %s %s as run %s on %s.\n", markdown(m.Extractor), markdown(m.Version), markdown(m.Run), m.Started.UTC().Format(time.DateOnly))
	_, err := w.Write(b.Bytes())
	return err
}

// markdown makes a text of strangers plain in Markdown: one line, and no character that begins something.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range shorten(oneLine(s), 500) {
		switch {
		case strings.ContainsRune("\\`*_{}[]()#+!|~$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// someWords lists at most limit of words and says how many more there are.
func someWords(words []string, limit int) string {
	short := make([]string, 0, min(len(words), limit+1))
	for i, w := range words {
		if i == limit {
			short = append(short, thousands(len(words)-limit)+" more")
			break
		}
		short = append(short, shorten(oneLine(w), 60))
	}
	return joinWords(short)
}
