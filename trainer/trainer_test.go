package trainer_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/trainer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInstallLaysDownTheWholeProgramAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, digest, err := trainer.Install(dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, digest), path)

	sources, err := filepath.Glob("*.py")
	require.NoError(t, err)
	packages, err := filepath.Glob("*/*.py") // a package that is not embedded would be missed by its first import on Ray
	require.NoError(t, err)
	packages = slices.DeleteFunc(packages, func(name string) bool { return strings.HasPrefix(name, "tests/") })
	schemas, err := filepath.Glob("schema/*.json")
	require.NoError(t, err)
	want := slices.Concat(sources, packages, schemas)
	var got []string
	require.NoError(t, filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(filepath.Join(path, "trainer"), p)
		got = append(got, filepath.ToSlash(name))
		return err
	}))
	require.ElementsMatch(t, want, got)
	require.Contains(t, got, "__main__.py")
	for _, name := range want {
		here, err := os.ReadFile(name)
		require.NoError(t, err)
		there, err := os.ReadFile(filepath.Join(path, "trainer", name))
		require.NoError(t, err)
		require.Equal(t, here, there, name)
	}
}

func TestInstallAgainChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, _, err := trainer.Install(dir)
	require.NoError(t, err)
	marker := filepath.Join(path, "trainer", "__pycache__")
	require.NoError(t, os.Mkdir(marker, 0o755))
	again, _, err := trainer.Install(dir)
	require.NoError(t, err)
	require.Equal(t, path, again)
	require.DirExists(t, marker)
}

func TestInstallByManyAtOnceLeavesOneFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() { _, _, errs[i] = trainer.Install(dir) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestInstallSaysWhenTheFolderIsDamagedOrCannotBeMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, _, err := trainer.Install(dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(path, "trainer", "run.py")))
	_, _, err = trainer.Install(dir)
	require.ErrorContains(t, err, "remove that folder")

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, _, err = trainer.Install(filepath.Join(file, "below"))
	require.Error(t, err)
}

func TestSchemasAreThere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spec", "event", "result", "metrics", "error"} {
		data, err := trainer.Schema(name)
		require.NoError(t, err)
		require.True(t, json.Valid(data), name)
	}
	_, err := trainer.Schema("../requirements")
	require.Error(t, err)
}
