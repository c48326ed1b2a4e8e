package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BinaryVariable names the environment variable with the path of the extractor that tests start. The Makefile builds that
// program once for all test suites, as Program does.
const BinaryVariable = "EXTRACTOR_BINARY"

// buildTimeout is the longest that a build may take, also where nothing is in Go's build cache.
const buildTimeout = 15 * time.Minute

// The programs are built at most once in each test process.
var (
	buildChecked = sync.OnceValues(func() (string, error) { return build("extractor-test", "-race", "-tags", "crash") })
	buildPlain   = sync.OnceValues(func() (string, error) { return build("extractor-plain") })
)

// Root is the folder of the module, from wherever a test or a program of it runs.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Program is the path of an extractor with the race detector, which writes what it finds into the log, and with the crash
// points. It is the program that EXTRACTOR_BINARY names; without that variable it is built.
func Program(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv(BinaryVariable); path != "" {
		require.FileExists(tb, path, BinaryVariable)
		return path
	}
	path, err := buildChecked()
	require.NoError(tb, err)
	return path
}

// PlainProgram builds the extractor without the race detector, for tests that measure its memory or its speed, and
// returns its path.
func PlainProgram(tb testing.TB) string {
	tb.Helper()
	path, err := buildPlain()
	require.NoError(tb, err)
	return path
}

// build builds the extractor as bin/name. Several processes may do so at once: each builds a file of its own and renames it.
func build(name string, flags ...string) (string, error) {
	bin := filepath.Join(Root(), "bin")
	if err := os.MkdirAll(bin, 0o750); err != nil {
		return "", fmt.Errorf("make the folder of the test programs: %w", err)
	}
	dir, err := os.MkdirTemp(bin, "build-")
	if err != nil {
		return "", fmt.Errorf("make the folder of the test programs: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // bin is ignored by git and removed by make clean
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	built := filepath.Join(dir, name)
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, flags...), "-o", built, "./cmd/extractor")...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the extractor: %w\n%s", err, out)
	}
	path := filepath.Join(bin, name)
	return path, os.Rename(built, path)
}
