package results_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// opened is an empty run folder with those files.
func opened(t *testing.T, files map[string]string) (*resultstest.Fixture, *os.Root) {
	t.Helper()
	f := resultstest.New(t)
	require.NoError(t, os.Remove(f.Path(results.LogFile)))
	for name, body := range files {
		f.Write(t, name, []byte(body))
	}
	root, err := results.OpenRun(f.Run())
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return f, root
}

func TestLogsOfWorkersComeInTheOrderOfTheirRanks(t *testing.T) {
	t.Parallel()
	_, root := opened(t, map[string]string{
		"logs/rank-10.txt": "", "logs/rank-9.txt": "", "logs/rank-0.txt": "", "logs/rank-.txt": "", "logs/rank--1.txt": "", "logs/rank-x.txt": "",
		"logs/notes.txt": "", "logs/rank-2": "",
	})
	require.Equal(t, []string{"logs/rank-0.txt", "logs/rank-2", "logs/rank-9.txt", "logs/rank-10.txt"}, results.RankLogs(root))
}

func TestOfManyWorkersTheFirstLogsAreDelivered(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for rank := range 40 {
		files[fmt.Sprintf("logs/rank-%d.txt", rank)] = "x"
	}
	_, root := opened(t, files)
	logs := results.RankLogs(root)
	require.Len(t, logs, 16)
	for rank, log := range logs {
		require.Equal(t, fmt.Sprintf("logs/rank-%d.txt", rank), log, "of many workers the first are shown")
	}
	_, alone := opened(t, nil)
	require.Empty(t, results.RankLogs(alone), "one worker prints into the log of the driver")
}

func TestTheEndOfALongLogIsCopied(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		log   string
		limit int
	}{
		"the driver": {results.LogFile, results.MaxLog},
		"a worker":   {"logs/rank-0.txt", 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := strings.Repeat("x", tc.limit-4) + "end\n"
			f, root := opened(t, map[string]string{tc.log: body})
			var out bytes.Buffer
			require.NoError(t, results.CopyLog(&out, root, tc.log))
			same := out.String() == body // a difference of megabytes is not worth a print
			require.True(t, same, "a log of the limit is whole")

			f.Write(t, tc.log, []byte(strings.Repeat("first", 300)+body))
			out.Reset()
			require.NoError(t, results.CopyLog(&out, root, tc.log))
			same = out.String() == "(the first 1,500 bytes are omitted)\n"+body
			require.True(t, same, "the end is copied, and what lacks is said")
		})
	}
}

func TestALogThatIsGoneIsSaid(t *testing.T) {
	t.Parallel()
	f, root := opened(t, nil)
	var out bytes.Buffer
	require.NoError(t, results.CopyLog(&out, root, results.LogFile))
	require.Equal(t, "No log was kept.\n", out.String())
	require.Empty(t, results.LogEnd(root, 5))
	require.Empty(t, results.LastLines(disk.Folder{Volume: t.TempDir(), Name: "none"}, 5))

	require.NoError(t, os.Symlink("/etc/passwd", f.Path(results.LogFile)))
	err := results.CopyLog(&out, root, results.LogFile)
	require.ErrorIs(t, err, disk.ErrNotAllowed)
	require.ErrorContains(t, err, "ask the administrator which other program writes to this volume")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.Empty(t, results.LogEnd(root, 5), "nothing of another file is shown")
}

func TestTheLastLinesOfALog(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		log  string
		n    int
		want string
	}{
		"fewer than asked for":           {"a\nb\n", 5, "a\nb"},
		"as many as asked for":           {"a\nb\n", 2, "a\nb"},
		"more than asked for":            {"a\nb\nc", 2, "b\nc"},
		"empty lines at the end":         {"a\nb\n\n\n", 1, "b"},
		"an empty line in the middle":    {"a\n\nb\n", 2, "\nb"},
		"none":                           {"a\nb\n", 0, ""},
		"an empty log":                   {"", 3, ""},
		"what would change the terminal": {"a\x1b[2J\r\n\u009bb\tü\n", 2, "a[2J\nb\tü"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, root := opened(t, map[string]string{results.LogFile: tc.log})
			require.Equal(t, tc.want, results.LogEnd(root, tc.n))
			require.Equal(t, tc.want, results.LastLines(f.Run(), tc.n))
		})
	}
}

func TestLogsAreNotPrintedWhereNobodyReads(t *testing.T) {
	t.Parallel()
	f, _ := opened(t, map[string]string{results.LogFile: strings.Repeat("x", 1<<16)})
	_, err := results.PrintLogs(failing{os.ErrClosed}, f.Run())
	require.ErrorIs(t, err, os.ErrClosed)
}
