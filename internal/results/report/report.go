package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed template/*.tmpl.html
var reportSources embed.FS

// reportTemplates are parsed when the first report is written, and once.
var reportTemplates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("report").Funcs(template.FuncMap{"add": func(a, b float64) float64 { return a + b }}).
		ParseFS(reportSources, "template/*.tmpl.html")
})

// maxRows bounds every list of the report but that of the settings, which maxSettings bounds: there are more than a hundred options.
const (
	maxRows     = 100
	maxSettings = 300
)

// page is what the templates show. All its texts are plain; html/template escapes them where they stand. A part that is nil is
// left out, so trainings, predictions and checks share the parts that they have.
type page struct {
	Kicker, Title, Subtitle string
	// Page is the address of the run in the studio, empty for none.
	Page       string
	Verdict    verdictPart
	Tiles      []pair
	Warnings   warningsPart
	Script     *scriptPart
	Prediction *predictionPart
	Data       *dataPart
	OfData     []shownSection
	Learning   *learningPart
	Candidates *candidatesPart
	Search     *searchPart
	Result     *resultPart
	OfResult   []shownSection
	Mistakes   *mistakesPart
	Model      *modelPart
	Run        runPart
	Settings   []settingRow
	Advice     []string
	Repeat     repeatPart
	Footer     string
}

// pair is a name and what stands beside it.
type pair struct{ Name, Value string }

// Write writes report.html: one fragment without scripts and without anything that is loaded from elsewhere, whose
// style rules hold below its root only. Clowder inserts it into its own page, where a script would run with the rights of
// the viewer and a loose style rule would change the page.
func Write(w io.Writer, events []results.Event, r *results.Result, m manifest.Meta) error {
	return WriteScript(w, events, r, m, Files{})
}

// WriteScript is Write with what the report of a script shows of files. It uses them for a script only.
func WriteScript(w io.Writer, events []results.Event, r *results.Result, m manifest.Meta, files Files) error {
	t, err := reportTemplates()
	if err != nil {
		return fmt.Errorf("parse the report's templates: %w", err)
	}
	return t.ExecuteTemplate(w, "page", newPage(events, r, m, files))
}

func newPage(events []results.Event, r *results.Result, m manifest.Meta, files Files) page {
	var p results.Progress
	for _, e := range events {
		if e.Attempt <= r.Attempt {
			p.Fold(e)
		}
	}
	images := &imageBudget{left: maxImageBytes}
	pg := page{
		Title:    results.Plain(m.DatasetName, "Unnamed dataset"),
		Page:     m.Page,
		Warnings: newWarningsPart(r, p),
		Run:      newRunPart(events, r, m),
		Settings: settingRows(r),
		Repeat:   newRepeatPart(r, m),
		Footer: fmt.Sprintf("Made by %s %s, run %s, attempt %d.",
			results.Plain(m.Extractor, "this extractor"), results.Plain(m.Version, ""), results.Plain(m.Run, ""), r.Attempt),
	}
	subject := results.Plain(r.Model.Base, "")
	switch r.Kind {
	case results.ResultPrediction:
		pg.Kicker, subject = "Prediction report", r.Prediction.Model.Ref()
		pg.Prediction, pg.OfResult = newPredictionPart(r, images), sections(r, section.PlaceResult, images)
	case results.ResultCheck:
		pg.Kicker, subject = "Data check (no training)", "dry run"
		pg.Data, pg.OfData = newDataPart(r, p, images), sections(r, section.PlaceData, images)
	case results.ResultScript:
		pg.Kicker, subject = "Report of a script", text.Excerpt(r.Script.Entry, 80)
		pg.Script = newScriptPart(r, files)
	case results.ResultTraining:
		c := chart.NewCurves(events, r)
		pg.Kicker = "Fine-tuning report"
		pg.Tiles = tiles(r)
		pg.Learning, pg.Result = newLearningPart(c, r), newResultPart(r)
		pg.Candidates = newCandidatesPart(r)
		pg.Search = newSearchPart(r)
		pg.Mistakes = newMistakesPart(r, images)
		pg.Data, pg.OfData = newDataPart(r, p, images), sections(r, section.PlaceData, images)
		pg.OfResult = sections(r, section.PlaceResult, images)
		pg.Model = newModelPart(r, m)
		pg.Advice = advice(c, r)
	}
	pg.Verdict = newVerdictPart(r, pg.Advice, pg.Model)
	if r.Partial && m.Failure != "" {
		pg.Verdict.Lines = append([]string{results.Plain(m.Failure, "")}, pg.Verdict.Lines...)
	}
	pg.Subtitle = fmt.Sprintf("%s, %s, %s", results.Plain(r.Task, ""), subject, m.Started.UTC().Format("2 January 2006, 15:04 UTC"))
	return pg
}

func tiles(r *results.Result) []pair {
	metric, score, where := headline(r)
	out := []pair{{r.Named(metric).Head() + " on " + where + " " + r.Unit() + "s", r.Named(metric).Figure(score.Value)}}
	for _, other := range r.Described {
		if s, ok := r.Metrics.Test[other.Name]; ok && metric != other.Name && !other.LowerIsBetter() {
			out = append(out, pair{other.Head(), other.Figure(s.Value)})
			break
		}
	}
	for _, b := range baselines(r, 2) {
		if s, ok := b.Test[metric]; ok {
			out = append(out, pair{"Baseline: " + text.Shorten(results.Plain(b.Title, b.Name), 40), r.Named(metric).Figure(s.Value)})
		}
	}
	return append(out, pair{"Training time", text.Duration(results.Seconds(r.Training.Seconds))}, pair{"Training " + r.Unit() + "s", text.Number(r.Data.Rows.Train)})
}

// day writes a time for a person.
func day(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }
