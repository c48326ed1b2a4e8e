package results_test

import (
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/results"
)

// logOf is where the log of a tail lies.
func logOf(t *results.Tail) string { return filepath.Join(t.Dir.Path(), results.EventsFile) }
