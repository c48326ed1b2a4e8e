package results

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestTheLogsOfARunArePrinted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.write(t, "log.txt", []byte("driver\nend\n"))
	f.write(t, "logs/rank-1.txt", []byte("second\n"))
	f.write(t, "logs/rank-0.txt", []byte("first\n"))
	var out bytes.Buffer
	found, err := PrintLogs(&out, f.run())
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "driver\nend\nfirst\nsecond\n", out.String())
	require.Equal(t, "end", LastLines(f.run(), 1))

	out.Reset()
	found, err = PrintLogs(&out, disk.Folder{Volume: t.TempDir(), Name: "runs/ft-none"})
	require.NoError(t, err)
	require.False(t, found)
}

func TestALogCannotChangeTheTerminal(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.write(t, "log.txt", []byte("\x1b]0;owned\x07\x1b[2J für\u009b31m\tok\r\n"))
	var out bytes.Buffer
	_, err := PrintLogs(&out, f.run())
	require.NoError(t, err)
	require.Equal(t, "]0;owned[2J für31m\tok\n", out.String())
}

func TestALogIsPrintedUpToALimitAndNothingElseInItsPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		place func(path string) error
		want  string
	}{
		"a sparse file":    {func(path string) error { return os.Truncate(path, 1<<40) }, "bytes are left out"},
		"a link":           {func(path string) error { return os.Symlink("/etc/passwd", path) }, ""},
		"an endless file":  {func(path string) error { return os.Symlink("/dev/zero", path) }, ""},
		"a pipe":           {func(path string) error { return syscall.Mkfifo(path, 0o600) }, ""},
		"a link to itself": {func(path string) error { return os.Symlink("log.txt", path) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			if tc.want == "" {
				require.NoError(t, os.Remove(f.path("log.txt")))
			}
			require.NoError(t, tc.place(f.path("log.txt")))
			var out bytes.Buffer
			_, err := PrintLogs(&out, f.run())
			require.Less(t, out.Len(), maxLog+1000)
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
