package results

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"
)

//go:embed report/*.tmpl.html
var reportSources embed.FS

// reportTemplates are parsed when the first report is written, and once.
var reportTemplates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("report").Funcs(template.FuncMap{"add": func(a, b float64) float64 { return a + b }}).
		ParseFS(reportSources, "report/*.tmpl.html")
})

// maxRows bounds every list of the report.
const maxRows = 100

// page is what the templates show. All its texts are plain; html/template escapes them where they stand. A part that is nil is
// left out, so trainings, predictions and checks share the parts that they have.
type page struct {
	Kicker, Title, Subtitle string
	Verdict                 verdictPart
	Tiles                   []pair
	Warnings                warningsPart
	Prediction              *predictionPart
	Data                    *dataPart
	Learning                *learningPart
	Result                  *resultPart
	Mistakes                *mistakesPart
	Model                   *modelPart
	Run                     runPart
	Settings                []settingRow
	Advice                  []string
	Repeat                  repeatPart
	Footer                  string
}

// pair is a name and what stands beside it.
type pair struct{ Name, Value string }

// writeReport writes report.html: one fragment without scripts and without anything that is loaded from elsewhere, whose
// style rules hold below its root only. Clowder inserts it into its own page, where a script would run with the rights of
// whoever looks and a loose style rule would change the page.
func writeReport(w io.Writer, events []Event, r *Result, m Meta) error {
	t, err := reportTemplates()
	if err != nil {
		return fmt.Errorf("parse the report's templates: %w", err)
	}
	return t.ExecuteTemplate(w, "page", newPage(events, r, m))
}

func newPage(events []Event, r *Result, m Meta) page {
	var p Progress
	for _, e := range events {
		if e.Attempt <= r.Attempt {
			p.Fold(e)
		}
	}
	pictures := &album{left: maxAlbum}
	pg := page{
		Title:    plain(m.DatasetName, "A dataset without a name"),
		Warnings: newWarningsPart(r, p),
		Run:      newRunPart(events, r, m),
		Settings: settingRows(r),
		Repeat:   newRepeatPart(r, m),
		Footer: fmt.Sprintf("Made by %s %s, run %s, attempt %d.",
			plain(m.Extractor, "this extractor"), plain(m.Version, ""), plain(m.Run, ""), r.Attempt),
	}
	subject := plain(r.Model.Base, "")
	switch r.Kind {
	case ResultPrediction:
		pg.Kicker, subject = "Prediction report", r.Prediction.Model.ref()
		pg.Prediction = newPredictionPart(r, pictures)
	case ResultCheck:
		pg.Kicker, subject = "Check of the data, nothing was trained", "dry run"
		pg.Data = newDataPart(r, p, pictures)
	case ResultTraining:
		c := newCurves(events, r)
		pg.Kicker = "Fine-tuning report"
		pg.Tiles = tiles(r)
		pg.Learning, pg.Result = newLearningPart(c, r), newResultPart(r)
		pg.Mistakes = newMistakesPart(r, pictures)
		pg.Data = newDataPart(r, p, pictures)
		pg.Model = newModelPart(r, m)
		pg.Advice = advice(c, r)
	}
	pg.Verdict = newVerdictPart(r, pg.Advice, pg.Model)
	pg.Subtitle = fmt.Sprintf("%s, %s, %s", plain(r.Task, ""), subject, m.Started.UTC().Format("2 January 2006, 15:04 UTC"))
	return pg
}

func tiles(r *Result) []pair {
	metric, score, where := r.headline()
	out := []pair{{title(metric) + " on " + where + " rows", figure(metric, score.Value)}}
	for _, other := range []string{"f1_macro", "r2"} {
		if s, ok := r.Metrics.Test[other]; ok && metric != other && len(out) < 2 {
			out = append(out, pair{title(other), figure(other, s.Value)})
		}
	}
	for _, b := range r.Metrics.Baselines[:min(len(r.Metrics.Baselines), 2)] {
		if s, ok := b.Test[metric]; ok {
			out = append(out, pair{"Simple model: " + shorten(plain(b.Title, b.Name), 40), figure(metric, s.Value)})
		}
	}
	return append(out, pair{"Training time", spell(seconds(r.Training.Seconds))}, pair{"Training rows", thousands(r.Data.Rows.Train)})
}

// day writes a time for a person.
func day(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }
