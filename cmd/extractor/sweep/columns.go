package sweep

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// cell is a figure of a training. Name is its column in sweep.csv, title its column in the table that people read; empty if it is not there.
// Value and words are the figure for the two. A figure of 0 is not known.
type cell struct {
	name, title string
	value       any
	words       string
}

// cells are the figures of a training, in the order of the columns.
func (t *table) cells(r row) []cell {
	speedUp, efficiency := t.speedUp(r)
	var score *results.Score
	if r.Score.N > 0 {
		score = &r.Score
	}
	value := func(s *results.Score) any {
		if s == nil {
			return nil
		}
		return &s.Value
	}
	metric := r.metric()
	figure := func(s *results.Score) string {
		if s == nil {
			return ""
		}
		return metric.Figure(s.Value)
	}
	format := func(layout string, v float64) string {
		if v <= 0 {
			return ""
		}
		return fmt.Sprintf(layout, v)
	}
	rate, memory := "", ""
	if r.RowsPerSecond > 0 {
		rate = text.Number(int64(r.RowsPerSecond + 0.5))
	}
	if r.peak() > 0 {
		memory = text.Bytes(r.peak())
	}
	return []cell{
		{"workers", "Workers", r.Workers, text.Number(r.Workers)},
		{"epochs", "Epochs", r.Epochs, text.Number(r.Epochs)},
		{"used_workers", "", r.UsedWorkers, ""},
		{"threads_per_worker", "", r.Threads, ""},
		{"epochs_done", "", r.EpochsDone, ""},
		{"stopped", "", r.Stopped, ""},
		{"seconds", "Time", r.Seconds, text.Duration(results.Seconds(r.Seconds))},
		{"training_seconds", "Training", r.TrainingSeconds, text.Duration(results.Seconds(r.TrainingSeconds))},
		{"rows_per_second", "Rows/s", r.RowsPerSecond, rate},
		{"speed_up", "Speed-up", speedUp, format("%.2f", speedUp)},
		{"efficiency", "Efficiency", efficiency, format("%.0f %%", 100*efficiency)},
		{"metric", "", r.Metric, ""},
		{"score", metric.Head(), value(score), figure(score)},
		{"low", "", r.Score.Low, ""},
		{"high", "", r.Score.High, ""},
		{"accuracy", "Accuracy", value(r.Accuracy), shareOf(r.Accuracy)},
		{"network_score", "Network alone", value(r.NetworkScore), figure(r.NetworkScore)},
		{"cores_per_worker", "CPU per worker", r.cores(), format("%.2f cores", r.cores())},
		{"peak_memory_bytes", "Memory per worker", r.peak(), memory},
		{"waiting_share", "Waiting", r.waiting(), format("%.0f %%", 100*r.waiting())},
		{"model", "", r.Model, ""},
		{"run", "", r.Run, ""},
	}
}

func shareOf(s *results.Score) string {
	if s == nil {
		return ""
	}
	return results.Share(s.Value)
}

// plain writes a value for sweep.csv, empty if it is not known.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case *float64:
		if v != nil {
			return strconv.FormatFloat(*v, 'g', 6, 64)
		}
	case float64:
		if v > 0 {
			return strconv.FormatFloat(v, 'g', 6, 64)
		}
	case int, int64:
		if written := fmt.Sprint(v); written != "0" {
			return written
		}
	}
	return ""
}

// writeCSV writes sweep.csv: one line for each training.
func (t *table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{nil}
	for _, c := range t.cells(row{}) {
		lines[0] = append(lines[0], c.name)
	}
	for _, r := range t.Rows {
		var line []string
		for _, c := range t.cells(r) {
			line = append(line, plain(c.value))
		}
		lines = append(lines, line)
	}
	return out.WriteAll(lines)
}

// shown is the table that people read: its titles, and a line for each training. It leaves out a column of which no training knows anything.
func (t *table) shown() (titles []string, lines [][]string) {
	if len(t.Rows) == 0 {
		return nil, nil
	}
	lines = make([][]string, len(t.Rows))
	for column, c := range t.cells(t.Rows[0]) {
		if c.title == "" || !t.any(func(r row) bool { return t.cells(r)[column].words != "" }) {
			continue
		}
		titles = append(titles, c.title)
		for i, r := range t.Rows {
			words := t.cells(r)[column].words
			if words == "" {
				words = "–"
			}
			lines[i] = append(lines[i], words)
		}
	}
	return titles, lines
}

// lines is the table for a terminal, with the conclusions below it.
func (t *table) lines() string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	titles, lines := t.shown()
	for _, line := range append([][]string{titles}, lines...) {
		_, _ = fmt.Fprintln(tw, strings.Join(line, "\t")+"\t")
	}
	_ = tw.Flush()
	for _, sentence := range t.conclusions() {
		b.WriteString(sentence + "\n")
	}
	return b.String()
}
