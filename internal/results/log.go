package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// logFile is what a training printed.
	logFile = "log.txt"
	// maxLog is how much of its end is delivered: Clowder shows files up to 10 MiB.
	maxLog = 8 << 20
)

// writeLog writes log.txt: what the run did, from its events, and after that what it printed.
func writeLog(w io.Writer, root *os.Root, events []Event) error {
	b := bufio.NewWriter(w)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(b, format, args...) } // Flush reports the first error
	p("What the run did (times in UTC)\n\n")
	for _, e := range events {
		if text := logLine(e); text != "" {
			p("%s  attempt %d  %s\n", e.Time.UTC().Format(time.DateTime), e.Attempt, oneLine(text))
		}
	}
	p("\nWhat it printed\n\n")
	f, size, err := openRegular(root, logFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p("Nothing was kept.\n")
		return b.Flush()
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	if size > maxLog {
		p("(the first %s bytes are left out)\n", thousands(size-maxLog))
		if _, err := f.Seek(size-maxLog, io.SeekStart); err != nil {
			return job.Retryable(fmt.Errorf("read %s: %w", logFile, err))
		}
	}
	if _, err := io.Copy(b, io.LimitReader(f, maxLog)); err != nil {
		return job.Retryable(fmt.Errorf("copy %s: %w", logFile, err))
	}
	return b.Flush()
}

// logLine is an event as a line of the log, empty for those that come too often.
func logLine(e Event) string {
	switch e.Kind {
	case KindPhase:
		return e.Text
	case KindDecision:
		return fmt.Sprintf("decision: %s = %s. %s", e.What, e.ChoiceText(), e.Why)
	case KindWarning:
		return "warning: " + e.Text
	case KindError:
		return "error: " + e.What
	case KindEval:
		words := []string{fmt.Sprintf("epoch %s, %s:", trim(e.Epoch), e.Split)}
		for name, value := range sorted(e.Metrics) {
			words = append(words, name, figure(value))
		}
		return strings.Join(words, " ")
	case KindBest:
		return fmt.Sprintf("best so far: epoch %s, %s %s", trim(e.Epoch), e.Metric, figure(e.Value))
	case KindResource:
		return fmt.Sprintf("%s on %s", plural(e.Workers, "worker"), e.Device)
	default:
		return ""
	}
}
