package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/text"
)

// card writes Markdown.
type card struct{ bytes.Buffer }

// p prints; a buffer takes everything.
func (c *card) p(format string, args ...any) { _, _ = fmt.Fprintf(c, format, args...) }

// WriteCard writes model_card.md: what the model is, how good, and what it must not be used for.
func WriteCard(w io.Writer, m manifest.Meta, r *results.Result) error {
	var c card
	c.about(m, r)
	c.scores(r)
	c.data(m, r)
	c.training(r)
	c.p("## Limits\n\nThe model knows only examples like those in its training rows, and repeats whatever their labels got wrong. " +
		"Test it on examples of your own before you rely on it, and do not let it decide alone on people.\n\n")
	c.license(m, r)
	c.p("## Use\n\n```python\n%s```\n\n", Snippet(r))
	c.p("Made by %s %s as run %s on %s.\n", markdown(m.Extractor), markdown(m.Version), markdown(m.Run), m.Started.UTC().Format(time.DateOnly))
	_, err := w.Write(c.Bytes())
	return err
}

func (c *card) about(m manifest.Meta, r *results.Result) {
	v := NewVerdict(r)
	name := markdown(m.DatasetName)
	if m.Model.Name != "" {
		name = fmt.Sprintf("%s, version %d", markdown(m.Model.Name), m.Model.Version)
	}
	c.p("# Model card: %s\n\n%s. %s.\n\n", name, markdown(v.Word), markdown(v.Figures))
	for _, line := range []string{v.Help, v.Champion} {
		if line != "" {
			c.p("%s\n\n", markdown(line))
		}
	}
	origin := "fine-tuned from " + markdown(r.Model.Base)
	if r.Model.FromScratch {
		origin = "trained from random weights (" + markdown(r.Model.Base) + ")"
	}
	answers := "a number"
	if !r.IsRegression() {
		answers = fmt.Sprintf("one of %d labels: %s", len(r.Model.Labels), markdown(text.ListSome(r.Model.Labels, 20, 60)))
	}
	c.p("A model for %s, %s, with %s parameters. It reads %s, and answers with %s.\n\n",
		markdown(r.Task), origin, text.Number(r.Model.Parameters), markdown(reads(r.Model)), answers)
}

func (c *card) scores(r *results.Result) {
	c.p("## Scores\n\n| Rows | Metric | Value | 95 %% interval | Number of rows |\n|---|---|---:|---|---:|\n")
	for split, scores := range r.Splits() {
		c.rows(split, scores)
	}
	for _, b := range r.Metrics.Baselines {
		c.rows("test, "+b.Title, b.Test)
	}
	if len(r.Metrics.Test) == 0 {
		c.p("\nThere were no test rows. The validation rows chose the best epoch, so the scores on them are somewhat too good.\n\n")
		return
	}
	c.p("\nThe test rows were held out: neither training nor the choice of the best epoch saw them.")
	if r.Calibration != nil && len(r.Calibration.Bins) > 0 {
		c.p(" On them the model's confidence is off by %.3f on average (expected calibration error).", r.Calibration.ECE)
	}
	c.p("\n\n")
}

func (c *card) rows(name string, scores results.Scores) {
	for _, metric := range slices.Sorted(maps.Keys(scores)) {
		s := scores[metric]
		interval := ""
		if s.Low != nil && s.High != nil {
			interval = results.Figure(metric, *s.Low) + " to " + results.Figure(metric, *s.High)
		}
		c.p("| %s | %s | %s | %s | %s |\n", markdown(name), markdown(results.Title(metric)), results.Figure(metric, s.Value), interval, text.Number(s.N))
	}
}

func (c *card) data(m manifest.Meta, r *results.Result) {
	c.p("## Data\n\nDataset %s; files %s. ", markdown(m.DatasetName), markdown(text.ListSome(r.Data.Files, 20, 60)))
	if len(r.Data.InputColumns) > 0 {
		c.p("Read from %s. ", markdown(text.ListSome(r.Data.InputColumns, 30, 60)))
	}
	label := "the name of the folder"
	if r.Data.LabelColumn != "" {
		label = markdown(r.Data.LabelColumn)
	}
	c.p("Label from %s. %s rows to train on, %s to choose the best epoch by, %s to test.\n\n", label,
		text.Number(r.Data.Rows.Train), text.Number(r.Data.Rows.Validation), text.Number(r.Data.Rows.Test))
	if len(r.Warnings) > 0 {
		c.p("## Warnings\n\n")
		for _, warning := range r.Warnings[:min(len(r.Warnings), results.MaxNotes)] {
			c.p("- %s\n", markdown(warning.Text))
		}
		c.p("\n")
	}
}

// license says what decides on the use of the model. What nobody has written down is not guessed.
func (c *card) license(m manifest.Meta, r *results.Result) {
	base, data := markdown(r.Model.Base), markdown(m.DatasetName)
	switch {
	case r.Model.FromScratch:
		c.p("## License\n\nThe weights were made from the dataset %s alone, so the terms of that data decide how the model may be used.\n\n", data)
	case r.Model.License != "":
		c.p("## License\n\nThe base model %s stands under the license %s, as its card says. The terms of the dataset %s hold too.\n\n",
			base, markdown(r.Model.License), data)
	default:
		c.p("## License\n\nThe files of the base model %s name no license: look it up where the model came from before you hand this one on. "+
			"The terms of the dataset %s hold too.\n\n", base, data)
	}
}

func (c *card) training(r *results.Result) {
	t := r.Training
	c.p("## Training\n\n%s (%s), the model of epoch %s was kept. Seed %d, batch size %d, learning rate %s, %s on %s, %s.\n\n",
		epochs(t.Epochs), markdown(t.Stopped), text.Decimal(r.BestEpoch, 2), t.Seed, t.BatchSize, text.Significant(t.LearningRate),
		text.Count(t.Workers, "worker"), markdown(t.Device), text.Duration(results.Seconds(t.Seconds)))
}

// markdown makes a text of strangers plain in Markdown: one line, and no character that begins something.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range text.Excerpt(s, 500) {
		switch {
		case strings.ContainsRune("\\`*_{}[]#+!|~$", r):
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
