package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// buildAll makes the deliverables, in memory and in the folder deliver of the run folder.
func buildAll(tb testing.TB, f *resultstest.Fixture) ([]Artifact, error) {
	tb.Helper()
	return Build(tb.Context(), f.Run(), f.Run().In("deliver"), &f.Result, f.Meta)
}

// deliverAll is buildAll, and puts the deliverables into the folder user of the run folder.
func deliverAll(tb testing.TB, f *resultstest.Fixture) []Artifact {
	tb.Helper()
	artifacts, err := buildAll(tb, f)
	require.NoError(tb, err)
	require.NoError(tb, CopyTo(tb.Context(), f.Path("user"), artifacts))
	return artifacts
}

// newLarge is a run whose model does not fit in memory.
func newLarge(t *testing.T) *resultstest.Fixture {
	t.Helper()
	f := resultstest.New(t)
	f.Result.Outputs = slices.DeleteFunc(f.Result.Outputs, func(o results.Output) bool { return o.Path == "out/model/model.safetensors" })
	f.Write(t, "out/model/model.safetensors", resultstest.Safetensors(2*inMemory))
	f.List(t, "out/model/model.safetensors")
	return f
}

// requireWhole reads an artifact to its end.
func requireWhole(t *testing.T, a Artifact) []byte {
	t.Helper()
	in, err := a.Open()
	require.NoError(t, err)
	body, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.Len(t, body, int(a.Size))
	sum := sha256.Sum256(body)
	require.Equal(t, a.SHA256, hex.EncodeToString(sum[:]))
	return body
}
