// Package golden compares what a test made with a file in testdata/golden beside it. `go test ./internal/results/... -update` writes
// the files again; look at their difference before you commit it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files again")

// Require checks that got is what the golden file of that name holds.
func Require(tb testing.TB, name string, got []byte) {
	tb.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o755)) //nolint:gosec // a folder of the repository
		require.NoError(tb, os.WriteFile(file, got, 0o644))         //nolint:gosec // a file of the repository
	}
	want, err := os.ReadFile(file)
	require.NoError(tb, err, "run the test with -update to write the file")
	require.Equal(tb, string(want), string(got), "%s: run the test with -update if the change is wanted", file)
}
