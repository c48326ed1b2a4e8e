package results_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestGoldenFilesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(resultstest.SchemaDir(t), "golden", "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 9)
	for _, file := range files {
		name := filepath.Base(file)
		kind, _, _ := strings.Cut(strings.TrimSuffix(name, ".json"), "-")
		resultstest.RequireValid(t, kind+".schema.json", resultstest.Golden(t, name))
	}
	for line := range bytes.Lines(resultstest.Golden(t, results.EventsFile)) {
		resultstest.RequireValid(t, "event.schema.json", line)
	}
}
