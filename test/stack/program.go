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

// Environment variables with the paths of the extractors that tests start. The Makefile builds both once for all test suites.
const (
	BinaryVariable     = "EXTRACTOR_BINARY"
	RaceBinaryVariable = "EXTRACTOR_RACE_BINARY"
)

// buildTimeout is the longest that a build may take, also where nothing is in Go's build cache.
const buildTimeout = 15 * time.Minute

// The programs are built at most once in each test process.
var (
	buildProgram = sync.OnceValues(func() (string, error) { return build("extractor-test") })
	buildRace    = sync.OnceValues(func() (string, error) { return build("extractor-test-race", "-race") })
)

// Root is the folder of the module, from wherever a test or a program of it runs.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Program is the path of an extractor with the crash points: the one that EXTRACTOR_BINARY names. Without that variable it is built.
func Program(tb testing.TB) string {
	tb.Helper()
	return program(tb, BinaryVariable, buildProgram)
}

// RaceProgram is the path of an extractor that also has the race detector, which writes what it finds into the log: the one
// that EXTRACTOR_RACE_BINARY names. Without that variable it is built. It takes three times the processor time of Program.
func RaceProgram(tb testing.TB) string {
	tb.Helper()
	return program(tb, RaceBinaryVariable, buildRace)
}

func program(tb testing.TB, variable string, build func() (string, error)) string {
	tb.Helper()
	if path := os.Getenv(variable); path != "" {
		require.FileExists(tb, path, variable)
		return path
	}
	path, err := build()
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
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-tags", "crash"}, flags...), "-o", built, "./cmd/extractor")...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the extractor: %w\n%s", err, out)
	}
	path := filepath.Join(bin, name)
	return path, os.Rename(built, path)
}

// RealRay returns the settings of a service on the Ray that RAY_ADDRESS of the environment names, as bin/extractor ray up prints them; none where it
// names none, and the double plays the trainings.
func RealRay() map[string]string {
	if os.Getenv("RAY_ADDRESS") == "" {
		return nil
	}
	out := map[string]string{}
	for _, name := range []string{"RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_PYTHON"} {
		out[name] = os.Getenv(name)
	}
	return out
}

// Reviews is a table of the bundled dataset, train.csv or test.csv.
func Reviews(tb testing.TB, name string) string {
	tb.Helper()
	doc, err := os.ReadFile(filepath.Join(Root(), "test", "dataset", "reviews", name))
	require.NoError(tb, err)
	return string(doc)
}
