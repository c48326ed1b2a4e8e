package sweep

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed page.tmpl.html
var pageSource string

// pageTemplate is parsed when the first page is written, and once.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) { return template.New("page").Parse(pageSource) })

// page is what the template shows. html/template escapes its texts.
type page struct {
	Title, Subtitle string
	Conclusions     []string
	Trainings       htmlTable
	Charts          []template.HTML
	Workers         htmlTable
	Settings        []string
}

type htmlTable struct {
	Titles []string
	Lines  [][]string
}

// writePage writes sweep.html. It holds no script and loads nothing from elsewhere. The same table gives the same bytes.
func (t *table) writePage(w io.Writer) error {
	parsed, err := pageTemplate()
	if err != nil {
		return fmt.Errorf("parse the template of the page: %w", err)
	}
	pg := page{Title: results.Plain(t.Dataset, "Unnamed dataset"), Conclusions: t.conclusions(), Workers: t.workers()}
	pg.Trainings.Titles, pg.Trainings.Lines = t.shown()
	if len(t.Rows) > 0 {
		first := t.Rows[0]
		pg.Subtitle = strings.Trim(fmt.Sprintf("%s, %s; %s, %s of memory, %s", results.Plain(first.Task, ""), results.Plain(first.Model, ""),
			text.Count(first.Hardware.Cores, "core"), text.Bytes(first.Hardware.MemoryBytes), results.Plain(first.Hardware.CPU, "")), ", ")
	}
	for _, c := range t.charts() {
		picture, err := report.Picture(c)
		if err != nil {
			return err
		}
		pg.Charts = append(pg.Charts, picture)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		pg.Settings = append(pg.Settings, name+": "+t.Parameters[name])
	}
	return parsed.Execute(w, pg)
}

// workers is what each worker of each training used.
func (t *table) workers() htmlTable {
	out := htmlTable{Titles: []string{"Training", "Worker", "Rows/s", "CPU", "Peak memory", "GPU memory", "Waiting"}}
	for _, r := range t.Rows {
		for _, w := range r.PerWorker {
			line := []string{
				r.name(), strings.TrimSpace(fmt.Sprintf("%d %s", w.Rank, text.Shorten(results.Plain(w.Node, ""), 40))),
				text.Number(int64(w.SamplesPerSecond + 0.5)), "–", text.Bytes(w.PeakMemoryBytes), "–", "–",
			}
			if w.Seconds > 0 {
				line[3] = fmt.Sprintf("%.2f cores", w.CPUSeconds/w.Seconds)
			}
			if w.GPUPeakMemoryBytes > 0 {
				line[5] = text.Bytes(w.GPUPeakMemoryBytes)
			}
			if w.WaitingShare != nil && len(r.PerWorker) > 1 {
				line[6] = fmt.Sprintf("%.0f %%", 100**w.WaitingShare)
			}
			out.Lines = append(out.Lines, line)
		}
	}
	return out
}

const (
	// maxLines bounds the lines of a chart: a legend has no room for more.
	maxLines = 3
	// possibleColour is the colour of the best speed-up that is possible. The page draws it dashed.
	possibleColour = chart.RunColours - 1
)

// charts draws the time and the speed-up over the workers, and the score over the epochs; each where it has several points.
func (t *table) charts() []*chart.Chart {
	byEpochs := func(r row) (int, string) { return r.Epochs, text.Count(r.Epochs, "epoch") }
	times := t.curves(byEpochs, func(r row) chart.Point { return chart.Point{X: float64(r.Workers), Y: r.TrainingSeconds} })
	speedUps := t.curves(byEpochs, func(r row) chart.Point {
		speedUp, _ := t.speedUp(r)
		return chart.Point{X: float64(r.Workers), Y: speedUp}
	})
	scores := t.curves(func(r row) (int, string) { return r.Workers, text.Count(r.Workers, "worker") },
		func(r row) chart.Point { return chart.Point{X: float64(r.Epochs), Y: r.Score.Value} })
	var out []*chart.Chart
	if len(times) > 0 && len(speedUps) > 0 {
		possible := chart.RunLine{Name: "possible", Colour: possibleColour}
		for _, r := range t.with(t.Rows[len(t.Rows)-1].Epochs) {
			possible.Points = append(possible.Points, chart.Point{X: float64(r.Workers), Y: float64(r.Workers) / float64(t.base(r).Workers)})
		}
		out = append(out, chart.Lines("Time of the training in seconds", "workers", "", times),
			chart.Lines("Speed-up", "workers", "", append(speedUps[:min(len(speedUps), maxLines-1)], possible)))
	}
	if len(scores) > 0 && !t.any(func(r row) bool { return r.Score.N == 0 }) {
		out = append(out, chart.Lines(t.Rows[0].metric().Head()+" on the test rows", "epochs", "", scores))
	}
	return out
}

// curves makes a line for each key, at most maxLines of them, without those of one point.
func (t *table) curves(key func(row) (int, string), at func(row) chart.Point) []chart.RunLine {
	byKey := map[int]*chart.RunLine{}
	for _, r := range t.Rows {
		k, name := key(r)
		if byKey[k] == nil {
			byKey[k] = &chart.RunLine{Name: name}
		}
		if p := at(r); p.Y > 0 {
			byKey[k].Points = append(byKey[k].Points, p)
		}
	}
	var out []chart.RunLine
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		if len(out) < maxLines && len(byKey[k].Points) > 1 {
			byKey[k].Colour = len(out)
			out = append(out, *byKey[k])
		}
	}
	return out
}
