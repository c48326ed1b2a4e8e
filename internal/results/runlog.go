package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// LogFile is what a training printed.
	LogFile = "log.txt"
	// rankLogDir holds what each worker printed: rank-0.txt.
	rankLogDir = "logs"
	// maxLog and maxRankLog are how much of their ends is delivered: Clowder shows files up to 10 MiB.
	maxLog         = 4 << 20
	maxRankLog     = 256 << 10
	maxRankLogs    = 16
	maxRankEntries = 4096
)

// RankLogs are the logs of the first workers in the order of their ranks.
func RankLogs(root *os.Root) []string {
	entries, err := disk.List(root, rankLogDir, maxRankEntries)
	if err != nil {
		return nil // one worker prints into the driver's log
	}
	ranks := map[string]int{}
	var names []string
	for _, e := range entries {
		rank, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".txt"), "rank-")
		if n, err := strconv.Atoi(rank); ok && err == nil && n >= 0 {
			name := rankLogDir + "/" + e.Name()
			ranks[name] = n
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(a, b)) })
	return names[:min(len(names), maxRankLogs)]
}

// CopyLog copies the end of a log. It may be gone or a link that a stranger left, and then that is said.
func CopyLog(w io.Writer, root *os.Root, name string) error {
	f, size, err := openRegular(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = io.WriteString(w, "No log was kept.\n")
		return err
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	limit := int64(maxLog)
	if name != LogFile {
		limit = maxRankLog
	}
	if size > limit {
		if _, err := fmt.Fprintf(w, "(the first %s bytes are omitted)\n", text.Number(size-limit)); err != nil {
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
