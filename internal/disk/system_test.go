package disk_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestTheRoomOfAFolderIsKnownWhereThereIsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, known := disk.Free(dir)
	require.Equal(t, runtime.GOOS == "linux", known)
	require.Equal(t, known, free > 0)
	free, known = disk.Free(filepath.Join(dir, "not-there"))
	require.False(t, known)
	require.Zero(t, free)
}

func TestALockKeepsOthersOutUntilItsFileIsClosed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("locks are for Linux")
	}
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		require.NoError(t, err)
		return f
	}
	first, second := open(), open()
	locked, err := disk.TryLock(first)
	require.NoError(t, err)
	require.True(t, locked)
	locked, err = disk.TryLock(second)
	require.NoError(t, err)
	require.False(t, locked)
	require.NoError(t, first.Close())
	locked, err = disk.TryLock(second)
	require.NoError(t, err)
	require.True(t, locked)
	require.NoError(t, second.Close())
}

func TestTwoFoldersAreExchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := folder(t, dir, "")
	for _, name := range []string{"one/x", "two/deep/y"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	err := disk.Exchange(root, "one", "two/deep")
	if err == nil { // not every file system can do it
		require.DirExists(t, filepath.Join(dir, "one", "y"))
		require.DirExists(t, filepath.Join(dir, "two", "deep", "x"))
	} else {
		require.DirExists(t, filepath.Join(dir, "one", "x"))
	}
	require.Error(t, disk.Exchange(root, "one", "missing"))
	require.DirExists(t, filepath.Join(dir, "one"))
}
