package disk_test

import (
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
