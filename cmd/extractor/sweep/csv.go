package sweep

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

var csvHeader = []string{
	"workers", "epochs", "used_workers", "threads_per_worker", "epochs_done", "stopped", "seconds", "training_seconds", "rows_per_second", "speed_up",
	"efficiency", "metric", "score", "low", "high", "accuracy", "network_score", "cores_per_worker", "peak_memory_bytes", "waiting_share", "model", "run",
}

// writeCSV writes sweep.csv: one line for each training. What is not known is empty.
func (t *table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for _, r := range t.Rows {
		speedUp, efficiency := t.speedUp(r)
		value, low, high := "", "", ""
		if r.Score.N > 0 {
			value = number(r.Score.Value)
		}
		if r.Score.Low != nil && r.Score.High != nil {
			low, high = number(*r.Score.Low), number(*r.Score.High)
		}
		err := out.Write([]string{
			strconv.Itoa(r.Workers), strconv.Itoa(r.Epochs), strconv.Itoa(r.UsedWorkers), known(r.Threads), number(r.EpochsDone), r.Stopped,
			number(r.Seconds), number(r.TrainingSeconds), positive(r.RowsPerSecond), positive(speedUp), positive(efficiency), r.Metric, value,
			low, high, score(r.Accuracy), score(r.NetworkScore), positive(r.cores()), known(r.peak()), number(r.waiting()), r.Model, r.Run,
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func positive(v float64) string {
	if v <= 0 {
		return ""
	}
	return number(v)
}

func known[T int | int64](n T) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

func score(s *results.Score) string {
	if s == nil {
		return ""
	}
	return number(s.Value)
}

// lines is the table for a terminal, with the conclusions below it.
func (t *table) lines() string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := t.columns()
	_, _ = fmt.Fprintln(tw, strings.Join(head, "\t")+"\t")
	for _, r := range t.Rows {
		_, _ = fmt.Fprintln(tw, strings.Join(t.cells(r), "\t")+"\t")
	}
	_ = tw.Flush()
	for _, sentence := range t.conclusions() {
		b.WriteString(sentence + "\n")
	}
	return b.String()
}

// columns are the titles of the table that people read.
func (t *table) columns() []string {
	out := []string{"Workers", "Epochs", "Time", "Training", "Rows/s", "Speed-up", "Efficiency"}
	if len(t.Rows) > 0 {
		out = append(out, results.Title(t.Rows[0].Metric))
		if t.hasAccuracy() {
			out = append(out, "Accuracy")
		}
		if t.hasNetwork() {
			out = append(out, "Network alone")
		}
	}
	return append(out, "CPU per worker", "Memory per worker", "Waiting")
}

// cells are the values of a row below columns.
func (t *table) cells(r row) []string {
	speedUp, efficiency := t.speedUp(r)
	out := []string{
		text.Number(r.Workers), text.Number(r.Epochs), seconds(r.Seconds), seconds(r.TrainingSeconds), dash(r.RowsPerSecond > 0, text.Number(int64(r.RowsPerSecond+0.5))),
		dash(speedUp > 0, fmt.Sprintf("%.2f", speedUp)), dash(efficiency > 0, fmt.Sprintf("%.0f %%", 100*efficiency)), dash(r.Score.N > 0, results.Figure(r.Metric, r.Score.Value)),
	}
	if t.hasAccuracy() {
		out = append(out, figure("accuracy", r.Accuracy))
	}
	if t.hasNetwork() {
		out = append(out, figure(r.Metric, r.NetworkScore))
	}
	return append(out, dash(r.cores() > 0, fmt.Sprintf("%.2f cores", r.cores())), dash(r.peak() > 0, text.Bytes(r.peak())),
		dash(len(r.PerWorker) > 1, fmt.Sprintf("%.0f %%", 100*r.waiting())))
}

func (t *table) hasAccuracy() bool { return t.any(func(r row) bool { return r.Accuracy != nil }) }

func (t *table) hasNetwork() bool { return t.any(func(r row) bool { return r.NetworkScore != nil }) }

func (t *table) any(holds func(row) bool) bool { return slices.ContainsFunc(t.Rows, holds) }

func dash(known bool, words string) string {
	if known {
		return words
	}
	return "–"
}

func figure(metric string, s *results.Score) string {
	if s == nil {
		return "–"
	}
	return results.Figure(metric, s.Value)
}

func seconds(v float64) string { return text.Duration(results.Seconds(v)) }
