package folder

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

func TestAModelIsStagedBesideTheFilesOfTheDataset(t *testing.T) {
	t.Parallel()
	dataset, unpacked := t.TempDir(), t.TempDir()
	for path, body := range map[string]string{
		filepath.Join(dataset, "model.zip"): "not the model", filepath.Join(dataset, "rows.csv"): "text\nfine\n",
		filepath.Join(unpacked, "model", "config.json"): "{}", filepath.Join(unpacked, "model", "model.safetensors"): "weights",
		filepath.Join(unpacked, "model.zip"): "zipped",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	}
	for name, tc := range map[string]struct{ model, path string }{
		"an archive":                  {filepath.Join(unpacked, "model.zip"), ".model/model.zip"},
		"a folder with a model in it": {unpacked, ".model/model.zip"},
		"the folder of a model":       {filepath.Join(unpacked, "model"), ".model/model.zip"},
	} {
		f, err := New(dataset, t.TempDir())
		require.NoError(t, err)
		require.NoError(t, f.GiveModel(tc.model), name)
		dir := t.TempDir()
		inputs, _, err := f.Stage(t.Context(), job.Record{}, disk.Folder{Volume: dir}, platform.Say{})
		require.NoError(t, err)
		require.Len(t, inputs, 3, name)
		got := inputs[2]
		require.Equal(t, []string{GivenModel, tc.path}, []string{got.ID, got.Path}, name)
		body, err := os.ReadFile(filepath.Join(dir, got.Path))
		require.NoError(t, err)
		require.EqualValues(t, len(body), got.Size)
		if name == "an archive" {
			require.Equal(t, "zipped", string(body))
			continue
		}
		archive, err := zip.OpenReader(filepath.Join(dir, got.Path))
		require.NoError(t, err)
		require.Len(t, archive.File, 2)
		require.Equal(t, "model/config.json", archive.File[0].Name, "the layout of model.zip")
		require.NoError(t, archive.Close())
	}
	f, err := New(dataset, t.TempDir())
	require.NoError(t, err)
	err = f.GiveModel(filepath.Join(dataset, "none.zip"))
	require.ErrorContains(t, err, "the model cannot be read")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
