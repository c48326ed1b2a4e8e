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
	"github.com/ncsa/clowder-ray/internal/results/section"
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
	c.p("## Limits\n\nThe model can only be expected to work on data like its training %ss, and it repeats the errors of their labels. "+
		"Test it on your own examples before you rely on it, and do not use it as the only basis for decisions about people.%s\n\n", r.Unit(), limits(r))
	c.license(m, r)
	use := "Let it answer for a dataset with the extractor `ncsa.ray.predict`.\n"
	if code := snippetOf(r); code != "" {
		use = "```python\n" + code + "```\n"
	}
	c.p("## Use\n\n%s\n", use)
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
	switch {
	case r.Usage.Origin != "":
		origin = markdown(r.Usage.Origin)
	case r.IsEstimator():
		origin = "fitted with scikit-learn (" + markdown(r.Model.Base) + ")"
	case r.Model.FromScratch:
		origin = "trained from random weights (" + markdown(r.Model.Base) + ")"
	}
	c.p("A model for %s, %s, with %s parameters. Input: %s. Output: %s.\n\n",
		markdown(r.Task), origin, text.Number(r.Model.Parameters), markdown(reads(r)), cardOutput(r))
}

// cardOutput says what the model answers.
func cardOutput(r *results.Result) string {
	return markdown(answers(r, fmt.Sprintf("one of %d labels: ", len(r.Model.Labels))))
}

// limits are the sentences of the kind about what the model must not be used for.
func limits(r *results.Result) string {
	var b strings.Builder
	for _, sentence := range r.Usage.Limits[:min(len(r.Usage.Limits), results.MaxLimits)] {
		b.WriteString(" " + markdown(sentence))
	}
	return b.String()
}

// maxCardBaselines is how many simple models the card has: the report has them all.
const maxCardBaselines = 4

func (c *card) scores(r *results.Result) {
	c.p("## Scores\n\n| Rows | Metric | Value | 95 %% interval | Number of rows |\n|---|---|---:|---|---:|\n")
	for split, scores := range r.Splits() {
		c.rows(r, split, scores)
	}
	for _, b := range baselines(r, maxCardBaselines) {
		c.rows(r, "test, "+b.Title, b.Test)
	}
	if len(r.Metrics.Test) == 0 {
		c.p("\nThere were no test rows. The best epoch was chosen by the validation rows, so their scores are slightly too optimistic.\n\n")
		return
	}
	c.p("\nThe test %ss were held out: neither training nor the choice of the model used them.", r.Unit())
	if r.Calibration != nil && len(r.Calibration.Bins) > 0 {
		c.p(" The expected calibration error on them is %.3f.", r.Calibration.ECE)
	}
	c.p("\n\n")
}

func (c *card) rows(r *results.Result, name string, scores results.Scores) {
	for _, metric := range slices.Sorted(maps.Keys(scores)) {
		s, m := scores[metric], r.Named(metric)
		interval := ""
		if s.Low != nil && s.High != nil {
			interval = m.Figure(*s.Low) + " to " + m.Figure(*s.High)
		}
		c.p("| %s | %s | %s | %s | %s |\n", markdown(name), markdown(m.Head()), m.Figure(s.Value), interval, text.Number(s.N))
	}
}

func (c *card) data(m manifest.Meta, r *results.Result) {
	c.p("## Data\n\nDataset %s; files %s. ", markdown(m.DatasetName), markdown(text.ListSome(r.Data.Files, 20, 60)))
	if len(r.Data.InputColumns) > 0 {
		c.p("Input columns: %s. ", markdown(text.ListSome(r.Data.InputColumns, 30, 60)))
	}
	unit := r.Unit()
	c.p("Label: %s. %s training %ss, %s validation %ss to choose the best epoch, %s test %ss.\n\n", markdown(labelName(r)),
		text.Number(r.Data.Rows.Train), unit, text.Number(r.Data.Rows.Validation), unit, text.Number(r.Data.Rows.Test), unit)
	for _, s := range r.Sections {
		if s.Place == section.PlaceData {
			c.facts(s)
		}
	}
	if len(r.Warnings) > 0 {
		c.p("## Warnings\n\n")
		for _, warning := range r.Warnings[:min(len(r.Warnings), results.MaxNotes)] {
			c.p("- %s\n", markdown(warning.Text))
		}
		c.p("\n")
	}
}

// facts are the facts of a section.
func (c *card) facts(s section.Section) {
	var list []section.Fact
	for _, b := range s.Blocks {
		list = append(list, b.Facts...)
	}
	if len(list) == 0 {
		return
	}
	c.p("%s:\n\n", markdown(s.Title))
	for _, f := range list {
		c.p("- %s: %s.\n", markdown(f.Name), markdown(strings.TrimRight(f.Value, ".")))
	}
	c.p("\n")
}

// license says what decides on the use of the model. What nobody has written down is not guessed.
func (c *card) license(m manifest.Meta, r *results.Result) {
	base, data := markdown(r.Model.Base), markdown(m.DatasetName)
	switch {
	case r.Model.FromScratch:
		c.p("## License\n\nThe weights were trained on the dataset %s only, so the terms of that data decide how the model may be used.\n\n", data)
	case r.Model.License != "":
		c.p("## License\n\nAccording to its model card, the base model %s has the license %s. The terms of the dataset %s also apply.\n\n",
			base, markdown(r.Model.License), data)
	default:
		c.p("## License\n\nThe files of the base model %s name no license: look it up at its source before you share this model. "+
			"The terms of the dataset %s also apply.\n\n", base, data)
	}
}

func (c *card) training(r *results.Result) {
	t := r.Training
	if !r.HasCurves() {
		c.p("## Training\n\n%s was fitted on %s with seed %d, in %s.\n\n", markdown(r.Model.Base), markdown(t.Device), t.Seed, text.Duration(results.Seconds(t.Seconds)))
		return
	}
	c.p("## Training\n\n%s (stopped: %s); the model of epoch %s was kept. Seed %d, batch size %d, learning rate %s, %s on %s, %s.\n\n",
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
