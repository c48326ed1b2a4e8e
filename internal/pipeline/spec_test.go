package pipeline

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/trainer"
)

// schema compiles the contract's schema of spec.json.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := trainer.Schema("spec")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("spec.schema.json", doc))
	s, err := c.Compile("spec.schema.json")
	require.NoError(t, err)
	return s
}

func TestTheSpecKeepsTheContract(t *testing.T) {
	t.Parallel()
	info, err := clowder.ParseInfo(clowderray.ExtractorInfo)
	require.NoError(t, err)
	for name, parameters := range map[string]map[string]any{
		"nothing was set":   nil,
		"all is text as v1": {"epochs": "5", "learning_rate": "1e-4", "seed": "7", "run_name": " films ", "use_gpu": "no"},
	} {
		rec := jobtest.Record("ft-one", "h")
		rec.Settings, _, err = info.Parameters(parameters)
		require.NoError(t, err, name)
		doc, err := json.Marshal(newSpec(rec, []job.Input{{Name: "train.csv", Path: "train.csv", Size: 3, SHA256: string(bytes.Repeat([]byte("a"), 64))}}))
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
		require.NoError(t, err)
		require.NoError(t, schema(t).Validate(value), name)
	}
}

func TestTheGoldenSpecIsOurs(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile(filepath.Join("..", "..", "trainer", "schema", "golden", "spec.json"))
	require.NoError(t, err)
	var spec Spec
	decoder := json.NewDecoder(bytes.NewReader(golden))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&spec))
	again, err := json.Marshal(spec)
	require.NoError(t, err)
	require.JSONEq(t, string(golden), string(again), "no field is lost")
}
