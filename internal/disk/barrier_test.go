package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func newFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestCallersThatComeDuringASyncShareTheNextOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var barrier Barrier
		running, first := barrier.enter(nil, nil)
		require.True(t, first)
		require.Nil(t, running.after, "the first caller waits for nobody")
		barrier.begin()

		closed := newFile(t)
		require.NoError(t, closed.Close())
		var group sync.WaitGroup
		for range 3 {
			file := newFile(t)
			group.Go(func() { require.NoError(t, barrier.Sync(file), "the error of another caller is not mine") })
		}
		group.Go(func() { require.ErrorIs(t, barrier.Sync(closed), os.ErrClosed) })
		synctest.Wait()
		require.Len(t, barrier.next.files, 4, "the running sync may have begun before their changes")
		close(running.done)
		group.Wait()
		require.Nil(t, barrier.next)
		require.NoError(t, barrier.Sync(), "an error is for those who waited only")
	})
}

func TestABarrierSyncsFewFilesAndWholeFileSystems(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	many := make([]*os.File, maxSingleSyncs+1)
	for i := range many {
		many[i] = newFile(t)
	}
	for name, barrier := range map[string]*Barrier{"shared": {}, "each for itself": nil} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, barrier.Sync(newFile(t)))
			require.NoError(t, barrier.Sync(many...))
			require.NoError(t, barrier.SyncAll(root, root))
			gone := newFile(t)
			require.NoError(t, gone.Close())
			require.Error(t, barrier.Sync(gone))
			require.Error(t, barrier.Sync(append(many[:maxSingleSyncs:maxSingleSyncs], gone)...))
		})
	}
	require.NoError(t, root.Close())
	require.ErrorIs(t, new(Barrier).SyncAll(root), os.ErrClosed)
}

func TestAReplacedFileIsWholeAndOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "list.json")))
	f, err := Replace(root, "list.json", []byte("[]\n"))
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	doc, err := root.ReadFile("list.json")
	require.NoError(t, err)
	require.Equal(t, "[]\n", string(doc))
	info, err := root.Lstat("list.json")
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular(), "the link was replaced")

	_, err = Replace(root, "missing/list.json", nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no part is left")
}
