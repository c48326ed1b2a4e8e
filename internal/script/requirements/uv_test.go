package requirements

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// stub returns an installation whose Python is a shell script with this body. It runs in the folder of the installation.
func stub(t *testing.T, body string) *work {
	t.Helper()
	python := filepath.Join(t.TempDir(), "python")
	syscall.ForkLock.RLock() // a child that has the file open for writing would keep it from being run
	err := os.WriteFile(python, []byte("#!/bin/sh\n"+body+"\n"), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	return &work{cfg: Config{Python: python, IndexURL: "https://reader:canary-password@index.example.org/simple"}, dir: t.TempDir()}
}

func TestOnlyTheEnvironmentOfUVHasThePasswordOfTheIndex(t *testing.T) {
	t.Setenv("RABBITMQ_URI", "amqp://guest:canary-queue@rabbit")
	t.Setenv("UV_INDEX", "https://evil.example.org/simple")
	t.Setenv("PYTHONPATH", "/evil")
	t.Setenv("HTTPS_PROXY", "http://proxy.example.org:3128")
	w := stub(t, `env > seen.txt; echo "$@"`)
	said, err := w.uv(t.Context(), "pip", "compile", "in.txt")
	require.NoError(t, err)
	require.NotContains(t, said, "canary", "every user of the machine can read the arguments")
	require.True(t, strings.HasPrefix(said, "-I -m uv pip compile in.txt "), said)
	for _, option := range []string{"--no-config", "--no-python-downloads", "--keyring-provider disabled", "--cache-dir cache"} {
		require.Contains(t, said, option)
	}
	doc, err := os.ReadFile(filepath.Join(w.dir, "seen.txt"))
	require.NoError(t, err)
	seen := strings.Split(string(doc), "\n")
	for _, variable := range []string{
		"UV_DEFAULT_INDEX=https://reader:canary-password@index.example.org/simple", "HOME=" + w.dir, "TMPDIR=" + w.dir,
		"HTTPS_PROXY=http://proxy.example.org:3128",
	} {
		require.Contains(t, seen, variable)
	}
	for _, foreign := range []string{"canary-queue", "evil"} {
		require.NotContains(t, string(doc), foreign)
	}
}

func TestTheProcessesThatUVStartsEndWithTheInstallation(t *testing.T) {
	t.Parallel()
	w := stub(t, `exec 3> alive; sleep 60 & echo started >&3; wait`)
	pipe := filepath.Join(w.dir, "alive")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := w.python(ctx)
		ended <- err
	}()
	alive, err := os.OpenFile(pipe, os.O_RDONLY, 0) // it waits for the script
	require.NoError(t, err)
	defer func() { require.NoError(t, alive.Close()) }()
	first := make([]byte, len("started\n"))
	_, err = io.ReadFull(alive, first)
	require.NoError(t, err)
	cancel()
	require.Error(t, <-ended)
	// The pipe ends when the last process that holds it has ended, which is the one in the background.
	require.NoError(t, alive.SetReadDeadline(time.Now().Add(30*time.Second)))
	_, err = io.ReadAll(alive)
	require.NoError(t, err)
}

func TestAnOverlayIsForItsPackagesAndItsPythonAlone(t *testing.T) {
	t.Parallel()
	alpha := pin{"alpha", "1.0", []string{"--hash=sha256:aa", "--hash=sha256:bb"}}
	beta := pin{"beta", "1.0", nil}
	names := map[string]string{}
	for what, tc := range map[string]struct {
		python string
		found  []pin
	}{
		"one package":         {"(3, 12) linux-x86_64", []pin{alpha}},
		"two packages":        {"(3, 12) linux-x86_64", []pin{alpha, beta}},
		"another version":     {"(3, 12) linux-x86_64", []pin{{"alpha", "1.1", alpha.hashes}}},
		"another wheel":       {"(3, 12) linux-x86_64", []pin{{"alpha", "1.0", alpha.hashes[:1]}}},
		"another Python":      {"(3, 13) linux-x86_64", []pin{alpha}},
		"another machine":     {"(3, 12) linux-aarch64", []pin{alpha}},
		"a name and a number": {"(3, 12) linux-x86_64", []pin{{"alpha==1", "0", alpha.hashes}}},
	} {
		w := stub(t, "echo '"+tc.python+"'")
		name, err := w.name(t.Context(), tc.found)
		require.NoError(t, err)
		require.Regexp(t, `^[0-9a-f]{32}$`, name)
		again, err := w.name(t.Context(), tc.found)
		require.NoError(t, err)
		require.Equal(t, name, again)
		require.NotContains(t, names, name, "%s has the name of %s", what, names[name])
		names[name] = what
	}
	_, err := stub(t, "exit 1").name(t.Context(), []pin{alpha})
	require.ErrorContains(t, err, "SCRIPT_PYTHON: ask for its version: ")
	kind, _ := job.Classify(err)
	require.NotEqual(t, job.KindPermanent, kind, "it is not the fault of the user")
}

func TestTheVersionOfUVIsThatOfThePythonOfScripts(t *testing.T) {
	t.Setenv("UV_CACHE_DIR", "/evil")
	for name, tc := range map[string]struct{ body, want, fault string }{
		"with a commit": {`echo "uv 0.9.1 (abcdef 2026-01-02)"`, "uv 0.9.1", ""},
		"without one":   {`echo "uv 0.9.1"; echo "a warning" >&2`, "uv 0.9.1", ""},
		"no uv":         {`echo "No module named uv" >&2; exit 1`, "", "python has no uv"},
		"its settings":  {`test -z "$UV_CACHE_DIR" && echo clean`, "clean", ""},
	} {
		version, err := Version(t.Context(), stub(t, tc.body).cfg.Python)
		if tc.fault != "" {
			require.ErrorContains(t, err, tc.fault, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, tc.want, version, name)
	}
	_, err := Version(t.Context(), filepath.Join(t.TempDir(), "python"))
	require.ErrorIs(t, err, os.ErrNotExist)
	path, err := Interpreter("sh")
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(path), "the installation runs in another folder")
}

func TestAFileAtItsLimitsIsRead(t *testing.T) {
	t.Parallel()
	lines, err := Parse([]byte(strings.Repeat("a\n", maxLines)))
	require.NoError(t, err)
	require.Len(t, lines, maxLines)
	require.Equal(t, maxLines, lines[maxLines-1].Number)
	full := "a\n#" + strings.Repeat("x", MaxFile-3)
	lines, err = Parse([]byte("\xef\xbb\xbf" + full))
	require.NoError(t, err, "a byte order mark does not count")
	require.Len(t, lines, 1)
	_, err = Parse([]byte(full + "x"))
	require.EqualError(t, err, "the requirements file cannot be used: it is larger than 64 KiB")
	_, err = Parse([]byte(strings.Repeat("-e .\n", 100)))
	require.Equal(t, mostFaults, strings.Count(err.Error(), "line "), "an error is short")
}
