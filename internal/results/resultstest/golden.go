package resultstest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// SchemaDir is the folder of the contract between the trainer and the service.
func SchemaDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	require.NoError(tb, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "trainer", "schema")
		}
		require.NotEqual(tb, dir, filepath.Dir(dir), "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
}

// Golden is a file that both languages are tested against.
func Golden(tb testing.TB, name string) []byte {
	tb.Helper()
	doc, err := os.ReadFile(filepath.Join(SchemaDir(tb), "golden", name))
	require.NoError(tb, err)
	return doc
}

// RequireValid checks a document against the schema of that name.
func RequireValid(tb testing.TB, schema string, doc []byte) {
	tb.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(SchemaDir(tb), schema))
	require.NoError(tb, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(tb, err)
	require.NoError(tb, s.Validate(v), schema)
}
