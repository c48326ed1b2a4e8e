package results

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// logFile is what a training printed.
	logFile = "log.txt"
	// rankLogDir holds what each worker printed: rank-0.txt.
	rankLogDir = "logs"
	// maxLog and maxRankLog are how much of their ends is delivered: Clowder shows files up to 10 MiB.
	maxLog         = 4 << 20
	maxRankLog     = 256 << 10
	maxRankLogs    = 16
	maxRankEntries = 4096
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
	for _, name := range append([]string{logFile}, rankLogs(root)...) {
		p("\nWhat it printed: %s\n\n", name)
		if err := copyLog(b, root, name); err != nil {
			return err
		}
	}
	return b.Flush()
}

// rankLogs are the logs of the workers in the order of their ranks.
func rankLogs(root *os.Root) []string {
	entries, err := disk.List(root, rankLogDir, maxRankEntries)
	if err != nil {
		return nil // one worker prints into the driver's log
	}
	ranks := map[string]int{}
	var names []string
	for _, e := range entries {
		rank, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".txt"), "rank-")
		if n, err := strconv.Atoi(rank); ok && err == nil && n >= 0 && len(names) < maxRankLogs {
			name := rankLogDir + "/" + e.Name()
			ranks[name] = n
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(a, b)) })
	return names
}

// copyLog copies the end of a log. It may be gone or a link that a stranger left, and then that is said.
func copyLog(w io.Writer, root *os.Root, name string) error {
	f, size, err := openRegular(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = io.WriteString(w, "Nothing was kept.\n")
		return err
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	limit := int64(maxLog)
	if name != logFile {
		limit = maxRankLog
	}
	if size > limit {
		if _, err := fmt.Fprintf(w, "(the first %s bytes are left out)\n", thousands(size-limit)); err != nil {
			return err
		}
		if _, err := f.Seek(size-limit, io.SeekStart); err != nil {
			return job.Retryable(fmt.Errorf("read %s: %w", name, err))
		}
	}
	if _, err := io.Copy(w, io.LimitReader(f, limit)); err != nil {
		return job.Retryable(fmt.Errorf("copy %s: %w", name, err))
	}
	return nil
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
			words = append(words, title(name), figure(name, value))
		}
		return strings.Join(words, " ")
	case KindBest:
		return fmt.Sprintf("best so far: epoch %s, %s %s", trim(e.Epoch), title(e.Metric), figure(e.Metric, e.Value))
	case KindResume:
		return "going on from a checkpoint: " + e.Text
	case KindResource:
		return fmt.Sprintf("%s on %s", plural(e.Workers, "worker"), e.Device)
	default:
		return ""
	}
}
