package cache

import (
	"fmt"
	"io/fs"
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
	require.NoError(t, c.Commit([]Entry{entry}, nil))
	body, err := os.ReadFile(filepath.Join(dir, sum))
	require.NoError(t, err)
	require.Equal(t, "torn", string(body))
	got, ok := c.Take("k", 4)
	require.True(t, ok)
	require.Equal(t, sum, got.SHA256)
}

func TestABodyOfAnotherStagingIsSyncedToo(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	first, err := l.Put(NewBody([]byte("body"), sumOf("body")), "first", 4)
	require.NoError(t, err)
	second, ok := l.Take("first", 4)
	require.True(t, ok)
	require.Contains(t, l.unsynced([]Entry{second}), first.SHA256, "the first staging has not committed, and may be killed")
	require.NoError(t, l.compact(true))
	doc, err := os.ReadFile(filepath.Join(l.dir, indexName))
	require.NoError(t, err)
	require.Empty(t, doc, "a line says that the body is on disk")

	require.NoError(t, l.Commit([]Entry{second}, nil))
	require.Empty(t, l.unsynced([]Entry{first}))
	require.NoError(t, os.Remove(l.body(first.SHA256)))
	require.NoError(t, l.Commit([]Entry{first}, nil), "a body that is on disk is not opened again")
}

func TestTheNamesInTheTargetAreSyncedWithTheBodies(t *testing.T) {
	t.Parallel()
	for name, folders := range map[string]int{"few": 2, "many": maxSingleSyncs + 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "1")
			dir := disk.Folder{Volume: l.dir + "-volume", Name: "inputs"}
			target, err := l.Target(dir)
			require.NoError(t, err)
			defer target.Close()
			line, ok := l.Take("1", 10)
			require.True(t, ok)
			for i := range folders {
				require.NoError(t, target.Place(line.SHA256, fmt.Sprintf("%d/a.csv", i)))
			}
			require.NoError(t, l.Commit([]Entry{line}, target))
			require.NoError(t, os.RemoveAll(filepath.Join(dir.Path(), "0")))
			err = l.Commit([]Entry{line}, target)
			if folders > maxSingleSyncs {
				require.NoError(t, err, "the whole file system is synced without a look at its folders")
				return
			}
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

// TestABodyThatIsStoredAgainDuringASyncIsSyncedAgain lets a program of a pod remove a body while a staging syncs it, and another staging
// store it again.
func TestABodyThatIsStoredAgainDuringASyncIsSyncedAgain(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	first, err := l.Put(NewBody([]byte("body"), sumOf("body")), "first", 4)
	require.NoError(t, err)
	syncing := l.unsynced([]Entry{first})
	require.NoError(t, os.Remove(l.body(first.SHA256)))
	second, err := l.Put(NewBody([]byte("body"), sumOf("body")), "second", 4)
	require.NoError(t, err)
	l.noteSync(syncing, nil)
	require.Contains(t, l.unsynced([]Entry{second}), first.SHA256)
	require.NoError(t, l.Commit([]Entry{second}, nil))
	require.Empty(t, l.unsynced([]Entry{second}))
}
