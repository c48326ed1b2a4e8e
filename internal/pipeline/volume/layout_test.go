package volume

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// touched makes a file with its folders and returns its path.
func touched(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	return path
}

func TestOnlyFoldersWithAConfigAreInstalledModels(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	models, err := v.Models()
	require.NoError(t, err)
	require.Empty(t, models, "a new volume has no folder of models")
	for _, file := range []string{
		"prajjwal1/bert-tiny/config.json", "google/vit/config.json", "google/bert/config.json", "google/bert/model.safetensors",
		".part/google--bert@abc/config.json", ".old/google--bert@20260101/config.json", // an installation and what it replaced
		"empty/no-config/model.safetensors", "config.json", "alone/config.json", "a/b/c/config.json",
	} {
		touched(t, v.BaseModels().Path(), file)
	}
	models, err = v.Models()
	require.NoError(t, err)
	require.Equal(t, []string{"google/bert", "google/vit", "prajjwal1/bert-tiny"}, models)
}

func TestARemovedRunLeavesItsModelAndOtherRuns(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	outside := touched(t, t.TempDir(), "victim")
	gone := []string{
		touched(t, v.Inputs(run).Path(), "a.csv"), touched(t, v.Run(run).Path(), "out", "model.zip"), touched(t, v.Deliverables(run).Path(), "model.zip"),
	}
	kept := []string{
		touched(t, v.Registry().Path(), "local", "films", "1", "version.json"), touched(t, v.Cache().Path(), "ab", "abc"),
		touched(t, v.Overlays().Path(), "0f", "x.py"), touched(t, v.Run(run+"-2").Path(), "spec.json"),
		touched(t, v.Deliverables(run+"-2").Path(), "model.zip"),
	}
	// The training can put a link anywhere into its folder.
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(v.Run(run).Path(), "link")))
	for range 2 { // a removal that was interrupted is repeated
		require.NoError(t, v.RemoveRun(run))
		for _, path := range gone {
			require.NoFileExists(t, path)
		}
		require.NoDirExists(t, v.Run(run).Path())
		require.NoDirExists(t, v.Deliverables(run).Path())
		for _, path := range append(kept, outside) {
			require.FileExists(t, path)
		}
	}
	require.NoError(t, Volume{Dir: filepath.Join(v.Dir, "nothing")}.RemoveRun(run), "a volume without runs")
}

func TestTheTrainingCannotReachWhatIsDelivered(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: "/volume", RayDir: "/mnt/ray"}
	require.Equal(t, "/mnt/ray/runs/"+run, v.RayRun(run), "Ray sees the volume at another path")
	inRun, err := filepath.Rel(v.Run(run).Path(), v.Inputs(run).Path())
	require.NoError(t, err)
	require.True(t, filepath.IsLocal(inRun), "the inputs are part of the run")
	for _, folder := range []disk.Folder{v.Deliverables(run), v.Cache(), v.Registry(), v.BaseModels(), v.Overlays()} {
		rel, err := filepath.Rel(v.Run(run).Path(), folder.Path())
		require.NoError(t, err)
		require.False(t, filepath.IsLocal(rel), "%s is in the folder that the training writes to", folder.Name)
	}
}
