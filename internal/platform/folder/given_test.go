package folder

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// staged stages a dataset of one file with a model beside it, and returns the model and its place.
func staged(t *testing.T, model string) (in job.Input, path string, err error) {
	t.Helper()
	dataset, to := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dataset, "rows.csv"), []byte("a"), 0o600))
	p, err := New(dataset, t.TempDir())
	require.NoError(t, err)
	require.NoError(t, p.GiveModel(model))
	inputs, _, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: to}, platform.Say{})
	if err != nil {
		return job.Input{}, "", err
	}
	in = inputs[len(inputs)-1]
	return in, filepath.Join(to, in.Path), nil
}

func TestOnlyTheFilesOfAGivenModelArePacked(t *testing.T) {
	t.Parallel()
	model, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	for name, body := range map[string]string{"config.json": "{}", "größe 1.txt": "ä", "empty": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(model, name), []byte(body), 0o600))
	}
	require.NoError(t, os.Symlink(secret, filepath.Join(model, "link.json")))
	require.NoError(t, os.Mkdir(filepath.Join(model, "folder"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(model, "pipe"), 0o600)) // to open it would block without end
	in, path, err := staged(t, model)
	require.NoError(t, err)
	require.Equal(t, filepath.Base(model), in.Name)
	archive, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, archive.Close()) }()
	got := map[string]string{}
	for _, f := range archive.File {
		require.Equal(t, zip.Store, f.Method, "weights do not get smaller")
		r, err := f.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		got[f.Name] = string(body)
	}
	require.Equal(t, map[string]string{"model/config.json": "{}", "model/größe 1.txt": "ä", "model/empty": ""}, got)
}

func TestTheSameModelIsPackedIntoTheSameBytes(t *testing.T) {
	t.Parallel()
	model := t.TempDir()
	for _, name := range []string{"b", "a", "c"} {
		require.NoError(t, os.WriteFile(filepath.Join(model, name), []byte(name), 0o600))
	}
	first, _, err := staged(t, model)
	require.NoError(t, err)
	second, path, err := staged(t, model)
	require.NoError(t, err)
	require.Equal(t, first, second, "a repeated job has the same inputs")
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, second.Size, int64(len(body)))
}

func TestAModelThatIsGoneByNowIsAnErrorOfTheStaging(t *testing.T) {
	t.Parallel()
	dataset, model := t.TempDir(), filepath.Join(t.TempDir(), "model.zip")
	for _, path := range []string{filepath.Join(dataset, "rows.csv"), model} {
		require.NoError(t, os.WriteFile(path, []byte("a"), 0o600))
	}
	p, err := New(dataset, t.TempDir())
	require.NoError(t, err)
	require.NoError(t, p.GiveModel(model))
	require.NoError(t, os.Remove(model))
	inputs, _, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: t.TempDir()}, platform.Say{})
	require.ErrorContains(t, err, "copy the dataset: ")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Empty(t, inputs)
}
