package delivery

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// writeLog writes log.txt: what the run did, from its events, and after that what it printed.
func writeLog(w io.Writer, root *os.Root, events []results.Event) error {
	b := bufio.NewWriter(w)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(b, format, args...) } // Flush reports the first error
	p("What the run did (times in UTC)\n\n")
	var metrics results.MetricList
	for _, e := range events {
		if e.Kind == results.KindMetrics {
			metrics = e.Described
		}
		if words := logLine(e, metrics); words != "" {
			p("%s  attempt %d  %s\n", e.Time.UTC().Format(time.DateTime), e.Attempt, text.OneLine(words))
		}
	}
	for _, name := range append([]string{results.LogFile}, results.RankLogs(root)...) {
		p("\nWhat it printed: %s\n\n", name)
		if err := results.CopyLog(b, root, name); err != nil {
			return err
		}
	}
	return b.Flush()
}

// logLine is an event as a line of the log, empty for those that come too often.
func logLine(e results.Event, metrics results.MetricList) string {
	switch e.Kind {
	case results.KindPhase:
		return e.Text
	case results.KindDecision:
		return fmt.Sprintf("decision: %s = %s. %s", e.What, e.ChoiceText(), e.Why)
	case results.KindWarning:
		return "warning: " + e.Text
	case results.KindError:
		return "error: " + e.What
	case results.KindEval:
		words := []string{fmt.Sprintf("%s, %s:", evaluated(e), e.Split)}
		for _, name := range slices.Sorted(maps.Keys(e.Metrics)) {
			value := e.Metrics[name]
			words = append(words, metrics.Named(name).Head(), metrics.Named(name).Figure(value))
		}
		return strings.Join(words, " ")
	case results.KindBest:
		return fmt.Sprintf("best so far: epoch %s, %s %s", text.Decimal(e.Epoch, 2), metrics.Named(e.Metric).Head(), metrics.Named(e.Metric).Figure(e.Value))
	case results.KindTrial:
		return trialLine(e)
	case results.KindResume:
		return "resumed: " + e.Text
	case results.KindResource:
		return fmt.Sprintf("%s on %s", text.Count(e.Workers, "worker"), e.Device)
	default:
		return ""
	}
}

// evaluated says what an evaluation is of.
func evaluated(e results.Event) string {
	switch {
	case e.Model != "":
		return e.Model
	case e.Epoch == 0:
		return "the model"
	default:
		return "epoch " + text.Decimal(e.Epoch, 2)
	}
}

// trialLine is what became of a trial of a search; empty while it runs, because these events come too often.
func trialLine(e results.Event) string {
	if e.State == "running" {
		return ""
	}
	words := fmt.Sprintf("trial %d (%s): %s", e.Trial, e.Settings, e.State)
	if e.Loss != nil {
		words += ", validation loss " + results.Share(*e.Loss)
	}
	return words
}
