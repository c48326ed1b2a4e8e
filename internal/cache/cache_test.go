package cache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestCacheReplacesATornBody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := Open(disk.Folder{Volume: dir}, zap.NewNop())
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	sum := strings.Repeat("a", 64)
	require.NoError(t, os.WriteFile(filepath.Join(dir, sum), []byte("to"), 0o600))
	entry, err := c.Put(NewBody([]byte("torn"), sum), "k", 4)
	require.NoError(t, err)
	require.NoError(t, c.Commit([]Entry{entry}))
	body, err := os.ReadFile(filepath.Join(dir, sum))
	require.NoError(t, err)
	require.Equal(t, "torn", string(body))
	got, ok := c.Take("k", 4)
	require.True(t, ok)
	require.Equal(t, sum, got.SHA256)
}

func TestManyFoldersAreSyncedAtOnce(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	names := make([]string, maxSingleSyncs+1)
	require.NoError(t, syncFolders(root, names), "one by one, folders without a name would be an error")
	require.Error(t, syncFolders(root, names[1:]))
}
