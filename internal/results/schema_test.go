package results

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// TestContractHoldsBothWays checks what we deliver, and the run folder that the other tests are made of, against the schemas
// that the trainer is tested against.
func TestContractHoldsBothWays(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.build(t)
	require.NoError(t, err)
	for name, schema := range map[string]string{
		ResultFile:             "result.schema.json",
		"deliver/metrics.json": "metrics.schema.json",
	} {
		doc, err := os.ReadFile(f.path(name))
		require.NoError(t, err)
		requireValid(t, schema, doc)
	}
	for line := range bytes.Lines(eventLog()) {
		requireValid(t, "event.schema.json", line)
	}
}

func TestGoldenFilesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(golden, "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 9)
	for _, file := range files {
		name := filepath.Base(file)
		kind, _, _ := strings.Cut(strings.TrimSuffix(name, ".json"), "-")
		requireValid(t, kind+".schema.json", readGolden(t, name))
	}
	for line := range bytes.Lines(readGolden(t, EventsFile)) {
		requireValid(t, "event.schema.json", line)
	}
}

func requireValid(tb testing.TB, schema string, doc []byte) {
	tb.Helper()
	path, err := filepath.Abs(filepath.Join("../../trainer/schema", schema))
	require.NoError(tb, err)
	s, err := jsonschema.NewCompiler().Compile(path)
	require.NoError(tb, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(tb, err)
	require.NoError(tb, s.Validate(v), schema)
}
