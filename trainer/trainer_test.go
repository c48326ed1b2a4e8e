package trainer_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/trainer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInstallIsWholeAndRepeatable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared", "trainer")
	var wg sync.WaitGroup
	paths := make([]string, 8)
	for i := range paths {
		wg.Go(func() { paths[i], _, _ = trainer.Install(dir) })
	}
	wg.Wait()
	digest, err := trainer.Digest()
	require.NoError(t, err)
	for _, p := range paths {
		require.Equal(t, filepath.Join(dir, digest), p, "all callers get the same folder")
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no partial folder is left")
	require.FileExists(t, filepath.Join(paths[0], "trainer", "__main__.py"))
	require.FileExists(t, filepath.Join(paths[0], "trainer", "schema", "spec.schema.json"))
	require.NoError(t, filepath.WalkDir(paths[0], func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.NotZero(t, info.Mode().Perm()&0o004, "%s can be read by the user of the pods", path)
		return nil
	}))
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spec", "event", "result", "error", "metrics"} {
		doc, err := trainer.Schema(name)
		require.NoError(t, err)
		require.True(t, json.Valid(doc), name)
	}
	_, err := trainer.Schema("nothing")
	require.Error(t, err)
}
