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
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed page.tmpl.html
var pageSource string

// pageTemplate is parsed when the first page is written, and once.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) {
	return template.New("page").Funcs(template.FuncMap{"add": func(a, b float64) float64 { return a + b }}).Parse(pageSource)
})

// page is what the template shows. html/template escapes its texts.
type page struct {
	Title, Subtitle string
	Conclusions     []string
	Columns         []string
	Rows            [][]string
	Charts          []chart.SVG
	Workers         []workerRow
	// GPU says that the table of workers has that column.
	GPU      bool
	Settings []string
}

// workerRow is what one worker of one training used.
type workerRow struct{ Training, Worker, Speed, CPU, Memory, Files, GPU, Waiting string }

// writePage writes sweep.html. It holds no script and loads nothing from elsewhere. The same table gives the same bytes.
func (t *table) writePage(w io.Writer) error {
	parsed, err := pageTemplate()
	if err != nil {
		return fmt.Errorf("parse the template of the page: %w", err)
	}
	pg := page{Title: results.Plain(t.Dataset, "Unnamed dataset"), Conclusions: t.conclusions(), Columns: t.columns()}
	for _, r := range t.Rows {
		pg.Rows = append(pg.Rows, t.cells(r))
		pg.workers(r)
	}
	if len(t.Rows) > 0 {
		first := t.Rows[0]
		pg.Subtitle = fmt.Sprintf("%s, %s; %s, %s of memory", results.Plain(first.Task, ""), results.Plain(first.Model, ""),
			text.Count(first.Hardware.Cores, "core"), text.Bytes(first.Hardware.MemoryBytes))
		if cpu := results.Plain(first.Hardware.CPU, ""); cpu != "" {
			pg.Subtitle += ", " + cpu
		}
	}
	for _, c := range t.charts() {
		pg.Charts = append(pg.Charts, c.SVG())
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		pg.Settings = append(pg.Settings, name+": "+t.Parameters[name])
	}
	return parsed.Execute(w, pg)
}

func (pg *page) workers(r row) {
	for _, w := range r.PerWorker {
		out := workerRow{
			Training: fmt.Sprintf("%s, %s", text.Count(r.Workers, "worker"), text.Count(r.Epochs, "epoch")),
			Worker:   strings.TrimSpace(fmt.Sprintf("%d %s", w.Rank, text.Shorten(results.Plain(w.Node, ""), 40))),
			Speed:    text.Number(int64(w.SamplesPerSecond + 0.5)), CPU: "–", Memory: text.Bytes(w.PeakMemoryBytes), Files: "–", GPU: "–", Waiting: "–",
		}
		if w.Seconds > 0 {
			out.CPU = fmt.Sprintf("%.2f cores", w.CPUSeconds/w.Seconds)
		}
		if w.FileMemoryBytes > 0 {
			out.Files = text.Bytes(w.FileMemoryBytes)
		}
		if w.GPUPeakMemoryBytes > 0 {
			out.GPU, pg.GPU = text.Bytes(w.GPUPeakMemoryBytes), true
		}
		if w.WaitingShare != nil && len(r.PerWorker) > 1 {
			out.Waiting = fmt.Sprintf("%.0f %%", 100**w.WaitingShare)
		}
		pg.Workers = append(pg.Workers, out)
	}
}
