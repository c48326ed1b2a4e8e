//go:build integration

package pickle_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func TestACheckpointOfTheInstalledTorchHasTheBytesThatItReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), raytest.Python(t), "testdata/write.py", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	requireSameAsTorch(t, dir)
}
