package results_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestTheLogsOfARunArePrinted(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	f.Write(t, "log.txt", []byte("driver\nend\n"))
	f.Write(t, "logs/rank-1.txt", []byte("second\n"))
	f.Write(t, "logs/rank-0.txt", []byte("first\n"))
	var out bytes.Buffer
	found, err := results.PrintLogs(&out, f.Run())
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "driver\nend\nfirst\nsecond\n", out.String())
	require.Equal(t, "end", results.LastLines(f.Run(), 1))

	out.Reset()
	found, err = results.PrintLogs(&out, disk.Folder{Volume: t.TempDir(), Name: "runs/ft-none"})
	require.NoError(t, err)
	require.False(t, found)
}

func TestALogCannotChangeTheTerminal(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	f.Write(t, "log.txt", []byte("\x1b]0;owned\x07\x1b[2J für\u009b31m\tok\r\n"))
	var out bytes.Buffer
	_, err := results.PrintLogs(&out, f.Run())
	require.NoError(t, err)
	require.Equal(t, "]0;owned[2J für31m\tok\n", out.String())
}

func TestALogIsPrintedUpToALimitAndNothingElseInItsPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		place func(path string) error
		want  string
	}{
		"a sparse file":    {func(path string) error { return os.Truncate(path, 1<<40) }, "bytes are omitted"},
		"a link":           {func(path string) error { return os.Symlink("/etc/passwd", path) }, ""},
		"an endless file":  {func(path string) error { return os.Symlink("/dev/zero", path) }, ""},
		"a pipe":           {func(path string) error { return syscall.Mkfifo(path, 0o600) }, ""},
		"a link to itself": {func(path string) error { return os.Symlink("log.txt", path) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			if tc.want == "" {
				require.NoError(t, os.Remove(f.Path("log.txt")))
			}
			require.NoError(t, tc.place(f.Path("log.txt")))
			var out bytes.Buffer
			_, err := results.PrintLogs(&out, f.Run())
			require.Less(t, out.Len(), results.MaxLog+1000)
			if tc.want == "" {
				require.ErrorIs(t, err, disk.ErrNotAllowed)
				require.Empty(t, out.String())
				return
			}
			require.NoError(t, err)
			require.Contains(t, out.String(), tc.want)
		})
	}
}
