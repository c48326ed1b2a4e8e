package clowder

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/test/bubble"
)

func TestMain(m *testing.M) {
	bubble.OneProcessor()
	goleak.VerifyTestMain(m)
}

// run is the run of most tests.
const run = "ft-one"

// assemble makes the delivery of a finished run in the folder to, as the pipeline does.
func assemble(tb testing.TB, from, to disk.Folder, result *results.Result, meta manifest.Meta) platform.Delivery {
	tb.Helper()
	artifacts, err := delivery.Build(tb.Context(), from, to, result, meta)
	require.NoError(tb, err)
	return platform.Delivery{
		Folders: delivery.Folder(meta, result), Artifacts: artifacts, Content: delivery.Metadata(meta, result), Prediction: result.Prediction,
	}
}
