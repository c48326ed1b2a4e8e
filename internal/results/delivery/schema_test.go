package delivery

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// TestContractHoldsBothWays checks what we deliver, and the run folder that the other tests are made of, against the schemas
// that the trainer is tested against.
func TestContractHoldsBothWays(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	deliverAll(t, f)
	for name, schema := range map[string]string{
		results.ResultFile:  "result.schema.json",
		"user/metrics.json": "metrics.schema.json",
	} {
		doc, err := os.ReadFile(f.Path(name))
		require.NoError(t, err)
		resultstest.RequireValid(t, schema, doc)
	}
	for line := range bytes.Lines(resultstest.EventLog()) {
		resultstest.RequireValid(t, "event.schema.json", line)
	}
}
