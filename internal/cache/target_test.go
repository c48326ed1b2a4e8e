package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// inputs is the folder of a run that is filled from a cache.
type inputs struct {
	*Target
	volume string
	dir    disk.Folder
}

func (l *fixture) inputs(t *testing.T, volume string) *inputs {
	t.Helper()
	i := &inputs{volume: volume, dir: disk.Folder{Volume: volume, Name: "runs/ft-one/inputs"}}
	var err error
	i.Target, err = l.Target(i.dir)
	require.NoError(t, err)
	t.Cleanup(i.Close)
	return i
}

func (i *inputs) path(name string) string { return filepath.Join(i.dir.Path(), name) }

func TestAPlacedFileIsALinkOfTheBodyThatNoTrainingCanChange(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	sum := l.keep(t, "k", "0123456789").SHA256
	in := l.inputs(t, t.TempDir())
	for range 2 { // the second time after a restart
		require.NoError(t, in.Place(sum, "raw/deep/train.csv"))
	}
	require.NoError(t, in.Place(sum, "train.csv"))
	require.Equal(t, []string{".", "raw", "raw/deep"}, in.Folders())
	require.NoError(t, l.Commit(nil, in.Target))
	body, err := os.Stat(l.body(sum))
	require.NoError(t, err)
	placed, err := os.Stat(in.path("raw/deep/train.csv"))
	require.NoError(t, err)
	require.True(t, os.SameFile(body, placed), "it takes no space")
	require.Zero(t, placed.Mode().Perm()&0o222)
	folder, err := os.Stat(in.path("raw"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(targetMode), folder.Mode().Perm(), "pods of another user can read it")
}

func TestWhatAPodPutInTheWayOfAFileIsReplacedAndNeverFollowed(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path, outside string) error{
		"another file":       func(path, _ string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"a link out":         func(path, outside string) error { return os.Symlink(outside, path) },
		"a link to nothing":  func(path, outside string) error { return os.Symlink(outside+"-absent", path) },
		"a full folder":      func(path, _ string) error { return os.MkdirAll(filepath.Join(path, "a", "b"), 0o700) },
		"a pipe":             func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"a file of the body": func(path, _ string) error { return os.WriteFile(path, []byte("0123456789"), 0o444) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "")
			sum := l.keep(t, "k", "0123456789").SHA256
			in := l.inputs(t, t.TempDir())
			outside := filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
			require.NoError(t, plant(in.path("train.csv"), outside))
			require.NoError(t, in.Place(sum, "train.csv"))
			info, err := os.Lstat(in.path("train.csv"))
			require.NoError(t, err)
			require.True(t, info.Mode().IsRegular())
			doc, err := os.ReadFile(in.path("train.csv"))
			require.NoError(t, err)
			require.Equal(t, "0123456789", string(doc))
			kept, err := os.ReadFile(outside)
			require.NoError(t, err)
			require.Equal(t, "secret", string(kept))
			require.NoFileExists(t, outside+"-absent")
		})
	}
}

func TestWhatAPodPutInTheWayOfAFolderIsReplacedAndNeverFollowed(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path, outside string) error{
		"a file":     func(path, _ string) error { return os.WriteFile(path, nil, 0o600) },
		"a link out": func(path, outside string) error { return os.Symlink(outside, path) },
		"a pipe":     func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		for _, at := range []string{"runs/ft-one/inputs", "runs/ft-one/inputs/raw", "runs/ft-one/inputs/raw/deep"} {
			t.Run(name+" at "+at, func(t *testing.T) {
				t.Parallel()
				l := newFixture(t, "")
				sum := l.keep(t, "k", "0123456789").SHA256
				volume, outside := t.TempDir(), t.TempDir()
				path := filepath.Join(volume, filepath.FromSlash(at))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
				require.NoError(t, plant(path, outside))
				in := l.inputs(t, volume)
				require.NoError(t, in.Place(sum, "raw/deep/train.csv"))
				require.FileExists(t, in.path("raw/deep/train.csv"))
				left, err := os.ReadDir(outside)
				require.NoError(t, err)
				require.Empty(t, left)
			})
		}
	}
}

func TestALinkInTheParentsOfATargetIsRefused(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	volume, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(volume, "runs")))
	_, err := l.Target(disk.Folder{Volume: volume, Name: "runs/ft-one/inputs"})
	require.ErrorIs(t, err, disk.ErrNotAllowed)
	require.NotContains(t, err.Error(), volume)
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestABodyThatIsNoFileIsNotPlaced(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"gone":       func(string) error { return nil },
		"a link out": func(path string) error { return os.Symlink("/etc/passwd", path) },
		"a folder":   func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "")
			sum := strings.Repeat("a", 64)
			require.NoError(t, plant(l.body(sum)))
			in := l.inputs(t, t.TempDir())
			require.Error(t, in.Place(sum, "train.csv"))
			_, err := os.Lstat(in.path("train.csv"))
			require.ErrorIs(t, err, fs.ErrNotExist, "nothing stays in the folder of the run")
		})
	}
}

func TestABodyIsCopiedWhereItCannotBeLinked(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	sum := l.keep(t, "k", "0123456789").SHA256
	in := l.inputs(t, t.TempDir())
	require.NoError(t, in.copy(sum, "train.csv"))
	doc, err := os.ReadFile(in.path("train.csv"))
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(doc))
	info, err := os.Stat(in.path("train.csv"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(bodyMode), info.Mode().Perm())
	require.ErrorIs(t, in.copy(sum, "train.csv"), fs.ErrExist, "what is there is not overwritten")
	require.Error(t, in.copy(strings.Repeat("a", 64), "other.csv"))
	require.NoFileExists(t, in.path("other.csv"))
	require.Error(t, in.copy(sum, "../../escaped.csv"))
	require.NoFileExists(t, filepath.Join(in.volume, "runs", "escaped.csv"))
}
