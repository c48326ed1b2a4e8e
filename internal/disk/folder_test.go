package disk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestAFolderIsMadeAndOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, makeIt := range map[string]func(disk.Folder) (*os.Root, error){
		"on disk": disk.Folder.Make, "with a sync left to the caller": disk.Folder.MakeUnsynced,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := disk.Folder{Volume: filepath.Join(t.TempDir(), "shared")}.In("runs").In("ft-1/inputs")
			_, err := folder.Open()
			require.ErrorIs(t, err, fs.ErrNotExist)
			for range 2 {
				made, err := makeIt(folder)
				require.NoError(t, err)
				require.NoError(t, made.Close())
			}
			opened, err := folder.Open()
			require.NoError(t, err)
			require.NoError(t, disk.WriteFile(opened, "a.csv", []byte("x")))
			require.NoError(t, opened.Close())
			require.FileExists(t, filepath.Join(folder.Path(), "a.csv"))
			entries, err := os.ReadDir(folder.Path())
			require.NoError(t, err)
			require.Len(t, entries, 1, "no part file is left")
		})
	}
}

func TestAFolderIsNotMadeBehindALinkOrOutside(t *testing.T) {
	t.Parallel()
	for name, makeIt := range map[string]func(disk.Folder) (*os.Root, error){
		"on disk": disk.Folder.Make, "with a sync left to the caller": disk.Folder.MakeUnsynced,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume, outside := t.TempDir(), t.TempDir()
			require.NoError(t, os.Symlink(outside, filepath.Join(volume, "link")))
			require.NoError(t, os.WriteFile(filepath.Join(volume, "file"), nil, 0o600))
			for _, name := range []string{"link", "link/inside", "file", "file/inside", "../beside", "runs/../../beside"} {
				_, err := makeIt(disk.Folder{Volume: volume, Name: name})
				require.ErrorIs(t, err, disk.ErrNotAllowed, name)
			}
			entries, err := os.ReadDir(outside)
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
}

func TestWhatIsRemovedIsNeverBehindALink(t *testing.T) {
	t.Parallel()
	volume, outside := t.TempDir(), t.TempDir()
	kept := filepath.Join(outside, "kept")
	require.NoError(t, os.WriteFile(kept, nil, 0o600))
	runs := disk.Folder{Volume: volume, Name: "runs"}
	require.NoError(t, runs.Remove("ft-1"), "there is nothing to remove")
	require.NoError(t, os.MkdirAll(filepath.Join(runs.Path(), "ft-1", "deep"), 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(runs.Path(), "ft-1", "deep", "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(runs.Path(), "ft-2")))
	for _, name := range []string{"ft-1", "ft-2"} {
		require.NoError(t, runs.Remove(name))
		require.NoFileExists(t, filepath.Join(runs.Path(), name))
	}
	require.FileExists(t, kept)
	require.Error(t, runs.Remove("../.."))
}

func TestOnlyTheLastPartOfASharedFolderIsShared(t *testing.T) {
	t.Parallel()
	folder := disk.Folder{Volume: t.TempDir(), Name: "runs/ft-1"}
	made, err := folder.MakeShared()
	require.NoError(t, err)
	require.NoError(t, made.Close())
	for path, mode := range map[string]fs.FileMode{folder.Path(): 0o775, filepath.Dir(folder.Path()): 0o755} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}

func TestALinkInTheNameOfAFolderIsRefused(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(t *testing.T, volume string){
		"a link out of the volume": func(t *testing.T, volume string) {
			t.Helper()
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(volume, "runs", "ft-1")))
		},
		"a link to another run": func(t *testing.T, volume string) {
			t.Helper()
			require.NoError(t, os.Mkdir(filepath.Join(volume, "runs", "ft-2"), 0o700))
			require.NoError(t, os.Symlink("ft-2", filepath.Join(volume, "runs", "ft-1")))
		},
		"a file": func(t *testing.T, volume string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(volume, "runs", "ft-1"), nil, 0o600))
		},
		"a link in the middle": func(t *testing.T, volume string) {
			t.Helper()
			require.NoError(t, os.RemoveAll(filepath.Join(volume, "runs")))
			require.NoError(t, os.MkdirAll(filepath.Join(volume, "cache", "ft-1"), 0o700))
			require.NoError(t, os.Symlink("cache", filepath.Join(volume, "runs")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(volume, "runs"), 0o700))
			plant(t, volume)
			folder := disk.Folder{Volume: volume, Name: "runs/ft-1"}
			for _, open := range []func() (*os.Root, error){folder.Open, folder.Make} {
				_, err := open()
				require.ErrorIs(t, err, disk.ErrNotAllowed)
			}
		})
	}
}

func TestAFolderNeverLeadsOutOfItsVolume(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../etc", "/etc", "runs/../../etc"} {
		_, err := disk.Folder{Volume: t.TempDir(), Name: name}.Open()
		require.ErrorIs(t, err, disk.ErrNotAllowed, name)
	}
}

func TestAPipeThatTakesThePlaceOfAFolderNeverBlocks(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	root := folder(t, volume, "")
	path := filepath.Join(volume, "out")
	stop := alternate(path,
		func() { _ = syscall.Mkfifo(path, 0o600) },
		func() { _ = os.Symlink("/etc", path) },
		func() { _ = os.Mkdir(path, 0o700) },
	)
	for range 2000 {
		if opened, err := (disk.Folder{Volume: volume, Name: "out"}).Open(); err == nil {
			require.NoError(t, opened.Close())
		}
		entries, _ := disk.List(root, "out", 10)
		require.Empty(t, entries)
		_ = disk.SyncFolder(root, "out")
		require.Error(t, link(root, "nothing", root, "out/x"))
	}
	stop()
}

// alternate puts one thing after the other at path, as fast as it can, until stop is called.
func alternate(path string, put ...func()) (stop func()) {
	var over atomic.Bool
	var work sync.WaitGroup
	work.Go(func() {
		for i := 0; !over.Load(); i++ {
			_ = os.Remove(path)
			put[i%len(put)]()
		}
	})
	return func() { over.Store(true); work.Wait() }
}

func TestAFolderIsListedUpToALimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := folder(t, dir, "")
	for _, name := range []string{"c", "a", "b"} {
		require.NoError(t, disk.WriteFile(root, name, nil))
	}
	entries, err := disk.List(root, ".", 10)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, []string{entries[0].Name(), entries[1].Name(), entries[2].Name()})
	entries, err = disk.List(root, ".", 2)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	_, err = disk.List(root, "a", 2)
	require.ErrorIs(t, err, disk.ErrNotAllowed)
	_, err = disk.List(root, "nothing", 2)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestALinkIsGivenAcrossTwoFoldersAndNeverThroughOne(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	cache, inputs := folder(t, volume, "cache"), folder(t, volume, "inputs")
	require.NoError(t, disk.WriteFile(cache, "body", []byte("x")))
	require.NoError(t, inputs.MkdirAll("deep/er", 0o700))
	require.NoError(t, link(cache, "body", inputs, "deep/er/a.csv"))
	doc, err := disk.ReadFile(inputs, "deep/er/a.csv", 10)
	require.NoError(t, err)
	require.Equal(t, "x", string(doc))
	require.ErrorIs(t, link(cache, "body", inputs, "deep/er/a.csv"), fs.ErrExist)

	out := t.TempDir()
	require.NoError(t, os.Symlink(out, filepath.Join(volume, "inputs", "out")))
	require.Error(t, link(cache, "body", inputs, "out/jobs.db"))
	require.NoFileExists(t, filepath.Join(out, "jobs.db"))
}

func folder(t *testing.T, volume, name string) *os.Root {
	t.Helper()
	root, err := disk.Folder{Volume: volume, Name: name}.Make()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })
	return root
}

// link makes one link.
func link(from *os.Root, old string, to *os.Root, name string) error {
	l := disk.NewLinker(from, to)
	defer l.Close()
	return l.Link(old, name)
}

func TestALinkerHoldsFewFoldersOpen(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	cache, inputs := folder(t, volume, "cache"), folder(t, volume, "inputs")
	require.NoError(t, disk.WriteFile(cache, "body", []byte("x")))
	l := disk.NewLinker(cache, inputs)
	defer l.Close()
	for i := range 100 { // more than are kept open
		name := strconv.Itoa(i)
		require.NoError(t, inputs.Mkdir(name, 0o700))
		require.NoError(t, l.Link("body", name+"/a"))
		require.NoError(t, l.Link("body", name+"/b"))
	}
	require.ErrorIs(t, l.Link("body", "99/a"), fs.ErrExist)
	require.ErrorIs(t, l.Link("nothing", "99/c"), fs.ErrNotExist)
}
