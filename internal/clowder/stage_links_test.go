package clowder_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
)

// TestStagingStaysInside stages train/jobs.db into the folder of a run to which a pod of an earlier attempt has written.
func TestStagingStaysInside(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, inputs, other string){
		"a folder is a link to the folder of another run": func(t *testing.T, inputs, other string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(inputs, 0o750))
			require.NoError(t, os.Symlink(other, filepath.Join(inputs, "train")))
		},
		"a folder is a link with a path from here": func(t *testing.T, inputs, other string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(inputs, 0o750))
			back, err := filepath.Rel(inputs, other)
			require.NoError(t, err)
			require.NoError(t, os.Symlink(back, filepath.Join(inputs, "train")))
		},
		"the folder of the inputs is a link": func(t *testing.T, inputs, other string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(filepath.Dir(inputs), 0o750))
			require.NoError(t, os.Mkdir(filepath.Join(other, "train"), 0o750))
			require.NoError(t, os.Symlink(other, inputs))
		},
		"the file is a link": func(t *testing.T, inputs, other string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(filepath.Join(inputs, "train"), 0o750))
			require.NoError(t, os.Symlink(filepath.Join(other, "jobs.db"), filepath.Join(inputs, "train", "jobs.db")))
		},
		"the file is a pipe": func(t *testing.T, inputs, _ string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(filepath.Join(inputs, "train"), 0o750))
			require.NoError(t, syscall.Mkfifo(filepath.Join(inputs, "train", "jobs.db"), 0o600))
		},
		"the file is a folder with something in it": func(t *testing.T, inputs, _ string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(filepath.Join(inputs, "train", "jobs.db", "x"), 0o750))
		},
		"the folder is a file": func(t *testing.T, inputs, _ string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(inputs, 0o750))
			require.NoError(t, os.WriteFile(filepath.Join(inputs, "train"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume := t.TempDir()
			inputs, other := filepath.Join(volume, "runs", "mine", "inputs"), filepath.Join(volume, "runs", "theirs")
			require.NoError(t, os.MkdirAll(other, 0o750))
			require.NoError(t, os.WriteFile(filepath.Join(other, "jobs.db"), []byte("precious"), 0o600))
			prepare(t, inputs, other)
			before := tree(t, other)

			b := setup(t, clowder.Config{Cache: disk.Folder{Volume: volume, Name: "cache"}})
			file := b.add(t, "jobs.db", "new")
			file.Path = "train/jobs.db"
			staged, err := b.s.Stage(t.Context(), []clowder.File{file}, disk.Folder{Volume: volume, Name: "runs/mine/inputs"}, nil)
			require.NoError(t, err)
			require.Equal(t, "train/jobs.db", staged[0].Path)
			require.Equal(t, before, tree(t, other), "nothing of another run is touched")
			require.Equal(t, "precious", string(readAll(t, filepath.Join(other, "jobs.db"))))
			require.Equal(t, "new", string(readAll(t, filepath.Join(inputs, "train", "jobs.db"))))
			for _, path := range []string{inputs, filepath.Join(inputs, "train"), filepath.Join(inputs, "train", "jobs.db")} {
				info, err := os.Lstat(path)
				require.NoError(t, err)
				require.Zero(t, info.Mode()&os.ModeSymlink, path)
			}
		})
	}
}

// tree lists all names below a folder.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}

func TestARunFolderThatIsALinkIsRefused(t *testing.T) {
	t.Parallel()
	volume, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(volume, "runs"), 0o750))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(volume, "runs", "mine")))
	b := setup(t, clowder.Config{})
	_, err := b.s.Stage(t.Context(), []clowder.File{b.add(t, "a.csv", "a")}, disk.Folder{Volume: volume, Name: "runs/mine/inputs"}, nil)
	require.ErrorIs(t, err, disk.ErrNotAllowed)
	require.ErrorContains(t, err, "mine is a link instead of a folder")
	require.NotContains(t, err.Error(), volume, "users do not see paths of the server")
	require.Equal(t, []string{elsewhere}, tree(t, elsewhere))
}

func TestTheCacheTrustsOnlyFiles(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(t *testing.T, body, twin string){
		"a link to a file of the same size and time": func(t *testing.T, body, twin string) {
			t.Helper()
			require.NoError(t, os.Symlink(twin, body))
		},
		"a pipe": func(t *testing.T, body, _ string) { t.Helper(); require.NoError(t, syscall.Mkfifo(body, 0o600)) },
		"a file of the same size and time that others may write to": func(t *testing.T, body, twin string) {
			t.Helper()
			info, err := os.Stat(twin)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(body, []byte("evil"), 0o600))
			require.NoError(t, os.Chmod(body, 0o464))
			require.NoError(t, os.Chtimes(body, info.ModTime(), info.ModTime()))
		},
		"a folder": func(t *testing.T, body, _ string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(filepath.Join(body, "x"), 0o750))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume := t.TempDir()
			b := setup(t, clowder.Config{Cache: disk.Folder{Volume: volume, Name: "cache"}})
			files := []clowder.File{b.add(t, "a.csv", "good")}
			staged, err := b.s.Stage(t.Context(), files, disk.Folder{Volume: volume, Name: "first"}, nil)
			require.NoError(t, err)
			body, twin := filepath.Join(volume, "cache", staged[0].SHA256), filepath.Join(volume, "twin")
			info, err := os.Stat(body)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(twin, []byte("evil"), 0o600))
			require.NoError(t, os.Chtimes(twin, info.ModTime(), info.ModTime()))
			require.NoError(t, os.Remove(body))
			replace(t, body, twin)

			_, err = b.s.Stage(t.Context(), files, disk.Folder{Volume: volume, Name: "second"}, nil)
			require.NoError(t, err)
			require.Equal(t, "good", string(readAll(t, filepath.Join(volume, "second", "a.csv"))))
			info, err = os.Lstat(filepath.Join(volume, "second", "a.csv"))
			require.NoError(t, err)
			require.True(t, info.Mode().IsRegular())
			require.Equal(t, "evil", string(readAll(t, twin)), "the target of a link is not written")
			_, err = b.client.TrimCache(0)
			require.NoError(t, err)
		})
	}
}

func TestBodiesAreCopiedToAnotherFileSystem(t *testing.T) {
	t.Parallel()
	other, err := os.MkdirTemp("/dev/shm", "inputs-*") //nolint:usetesting // on another file system than the cache
	if err != nil {
		t.Skip("this system has no /dev/shm")
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(other)) })
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(other, "a.csv")))
	b := setup(t, clowder.Config{})
	files := []clowder.File{b.add(t, "a.csv", "abc")}
	for range 2 {
		_, err = b.s.Stage(t.Context(), files, disk.Folder{Volume: other}, nil)
		require.NoError(t, err)
		require.Equal(t, "abc", string(readAll(t, filepath.Join(other, "a.csv"))))
	}
}

func TestTheCacheFolderMustNotBeALink(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(volume, "cache")))
	_, err := clowder.NewClient(clowder.Config{URL: "http://x", Cache: disk.Folder{Volume: volume, Name: "cache"}})
	require.ErrorIs(t, err, disk.ErrNotAllowed)
}
