package results_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestARunFolderOfTheVersionBeforeIsRead(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	require.NoError(t, os.CopyFS(volume, os.DirFS(filepath.Join("..", "..", "test", "stored", "runs"))))
	done := disk.Folder{Volume: volume, Name: "ft-done"}
	result, failure, err := results.Read(done, "ft-done", 1)
	require.NoError(t, err)
	require.Nil(t, failure)
	require.Equal(t, "ft-done", result.Run)
	require.Equal(t, "accuracy", result.Metric)
	require.InDelta(t, 0.6667, result.Metrics.Test["accuracy"].Value, 1e-3)
	require.Equal(t, []string{"a", "b", "c"}, result.Model.Labels)

	events, err := results.ReadEvents(done)
	require.NoError(t, err)
	require.Equal(t, results.Kind("done"), events[len(events)-1].Kind)
}
