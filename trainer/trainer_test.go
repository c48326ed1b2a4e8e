package trainer_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/trainer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInstallLaysDownTheWholeProgramAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, digest, err := trainer.Install(disk.Folder{Volume: dir})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, digest), path)

	var want []string
	for _, pattern := range []string{"*.py", "*/*.py", "*/*/*.py", "*/*/*/*.py", "schema/*.json"} { // a package that is not embedded fails on Ray only
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		want = append(want, found...)
	}
	want = slices.DeleteFunc(want, func(name string) bool { return strings.HasPrefix(name, "tests/") })
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
	folder := disk.Folder{Volume: t.TempDir(), Name: "trainer"}
	path, _, err := trainer.Install(folder)
	require.NoError(t, err)
	before, err := os.Stat(path)
	require.NoError(t, err)
	again, _, err := trainer.Install(folder)
	require.NoError(t, err)
	require.Equal(t, path, again)
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

func TestInstallByManyAtOnceLeavesOneFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() { _, _, errs[i] = trainer.Install(disk.Folder{Volume: dir}) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// What others have changed on the volume is never run: the next installation, which comes before each job, brings back the
// program that the service was built with.
func TestInstallReplacesADamagedTrainer(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"a file is missing": func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(path, "trainer", "run.py")))
		},
		"a file has other bytes of the same number": func(t *testing.T, path string) {
			t.Helper()
			file := filepath.Join(path, "trainer", "run.py")
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			source[0] ^= 1
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.WriteFile(file, source, 0o600))
		},
		"a file is longer": func(t *testing.T, path string) {
			t.Helper()
			file := filepath.Join(path, "trainer", "run.py")
			require.NoError(t, os.Chmod(file, 0o600))
			require.NoError(t, os.Truncate(file, 1<<40)) // sparse: it takes no room
		},
		"a link to the same bytes takes the place of a file": func(t *testing.T, path string) {
			t.Helper()
			file, there := filepath.Join(path, "trainer", "run.py"), filepath.Join(t.TempDir(), "run.py")
			require.NoError(t, os.Rename(file, there))
			require.NoError(t, os.Symlink(there, file))
		},
		"a pipe takes the place of a file": func(t *testing.T, path string) {
			t.Helper()
			file := filepath.Join(path, "trainer", "run.py")
			require.NoError(t, os.Remove(file))
			require.NoError(t, syscall.Mkfifo(file, 0o600))
		},
		"a module hides one of Python's": func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(path, "sitecustomize.py"), []byte("import evil"), 0o600))
		},
		"compiled code lies beside the source": func(t *testing.T, path string) {
			t.Helper()
			dir := filepath.Join(path, "trainer", "__pycache__")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run.cpython-311.pyc"), []byte("evil"), 0o600))
		},
		"an empty folder": func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.Mkdir(filepath.Join(path, "torch"), 0o700))
		},
		"a link to another folder is in its place": func(t *testing.T, path string) {
			t.Helper()
			other := filepath.Join(t.TempDir(), "other")
			require.NoError(t, os.Rename(path, other))
			require.NoError(t, os.Symlink(other, path))
		},
		"a file is in its place": func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := disk.Folder{Volume: t.TempDir(), Name: "trainer"}
			path, _, err := trainer.Install(folder)
			require.NoError(t, err)
			want := tree(t, path)
			damage(t, path)
			require.NotEqual(t, want, tree(t, path))
			again, _, err := trainer.Install(folder)
			require.NoError(t, err)
			require.Equal(t, path, again)
			require.Equal(t, want, tree(t, path))
		})
	}
}

// tree is what lies below a folder: the bytes of files, and of all else its type.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		found[p] = d.Type().String()
		if d.Type().IsRegular() && info.Size() < 1<<20 {
			text, err := os.ReadFile(p)
			require.NoError(t, err)
			found[p] = string(text)
		}
		return nil
	}))
	return found
}

func TestTheTrainerIsForItsOwnerAloneToChange(t *testing.T) {
	t.Parallel()
	folder := disk.Folder{Volume: t.TempDir(), Name: "trainer"}
	path, _, err := trainer.Install(folder)
	require.NoError(t, err)
	closed := func() {
		require.NoError(t, filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := d.Info()
			require.NoError(t, err)
			want := fs.FileMode(0o444)
			if d.IsDir() {
				want = 0o755
			}
			require.Equal(t, want, info.Mode().Perm(), p)
			return nil
		}))
	}
	closed()
	// As a kubelet does that sees the volume for the first time.
	require.NoError(t, filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		return os.Chmod(p, info.Mode()|0o660)
	}))
	_, _, err = trainer.Install(folder)
	require.NoError(t, err)
	closed()
}

func TestInstallSaysWhenTheFolderCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, _, err := trainer.Install(disk.Folder{Volume: filepath.Join(file, "below")})
	require.Error(t, err)

	dir, other := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(other, filepath.Join(dir, "trainer")))
	_, _, err = trainer.Install(disk.Folder{Volume: dir, Name: "trainer"})
	require.ErrorIs(t, err, disk.ErrNotAllowed)
	left, err := os.ReadDir(other)
	require.NoError(t, err)
	require.Empty(t, left)
}

// BenchmarkInstallAgain is what each submission pays.
func BenchmarkInstallAgain(b *testing.B) {
	folder := disk.Folder{Volume: b.TempDir(), Name: "trainer"}
	for b.Loop() {
		if _, _, err := trainer.Install(folder); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTheImageHasTheLockedPackages(t *testing.T) {
	t.Parallel()
	packages := trainer.Packages()
	require.Greater(t, len(packages), 50)
	for _, name := range []string{"torch", "ray", "numpy", "transformers"} {
		require.Regexp(t, `^\d+\.`, packages[name], name)
	}
}
