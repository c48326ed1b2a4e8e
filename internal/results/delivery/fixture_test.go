package delivery

import (
	"path/filepath"
	"testing"

	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// buildAll makes the deliverables in the folder deliver of the run folder.
func buildAll(tb testing.TB, f *resultstest.Fixture) ([]Artifact, error) {
	tb.Helper()
	return Build(tb.Context(), f.Run(), f.Run().In("deliver"), &f.Result, f.Meta)
}

// pathOf is where an artifact lies.
func pathOf(a Artifact) string { return filepath.Join(a.Folder.Path(), filepath.FromSlash(a.Name)) }
