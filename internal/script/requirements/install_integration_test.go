//go:build integration

package requirements

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// listing returns the files below a folder.
func listing(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, rel)
		}
		return err
	})
	require.NoError(t, err)
	return files
}

func TestAnOverlayHasWhatTheImageLacks(t *testing.T) {
	t.Parallel()
	i, dir := newInstaller(t, newIndex(t), nil)
	overlay, err := i.Install(t.Context(), []byte("alpha==1.0\ntorch>=2\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"alpha==1.0"}, overlay.Packages, "alpha needs beta, and the version of the image does")
	files := listing(t, filepath.Join(dir, overlay.Name))
	require.Contains(t, files, "alpha/__init__.py")
	require.NotContains(t, strings.Join(files, " "), "beta")
	require.NotContains(t, strings.Join(files, " "), "torch")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left of the installation")

	cmd := exec.CommandContext(t.Context(), withUV(t), "-c", "import alpha; print(alpha.version)")
	cmd.Env = []string{"PYTHONPATH=" + filepath.Join(dir, overlay.Name)}
	said, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "1.0\n", string(said))
}

func TestTheImageHasEverything(t *testing.T) {
	t.Parallel()
	i, _ := newInstaller(t, newIndex(t), nil)
	overlay, err := i.Install(t.Context(), []byte("torch\nbeta==1.0\n# only comments else\n"))
	require.NoError(t, err)
	require.Empty(t, overlay)
}

func TestCodeThatStartsItselfIsRemoved(t *testing.T) {
	t.Parallel()
	i, dir := newInstaller(t, newIndex(t), nil)
	overlay, err := i.Install(t.Context(), []byte("alpha==2.0"))
	require.NoError(t, err)
	require.Equal(t, []string{"alpha==2.0", "beta==2.0"}, overlay.Packages)
	files := listing(t, filepath.Join(dir, overlay.Name))
	require.Contains(t, files, "alpha/deep/more.py")
	for _, file := range files {
		require.NotContains(t, []string{"alpha.pth", "sitecustomize.py"}, filepath.Base(file))
		info, err := os.Lstat(filepath.Join(dir, overlay.Name, file))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o444), info.Mode(), file)
	}
	require.NoFileExists(t, "/tmp/pwned")
}

func TestTheSamePackagesAreInstalledOnce(t *testing.T) {
	t.Parallel()
	i, dir := newInstaller(t, newIndex(t), nil)
	names := make([]string, 3)
	var all sync.WaitGroup
	for n := range names {
		all.Go(func() {
			overlay, err := i.Install(t.Context(), []byte("alpha==1.0 # for us\n"))
			if err != nil {
				t.Error(err)
			}
			names[n] = overlay.Name
		})
	}
	all.Wait()
	require.Equal(t, []string{names[0], names[0], names[0]}, names)
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, names[0]), long, long))
	overlay, err := i.Install(t.Context(), []byte("alpha == 1.0"))
	require.NoError(t, err)
	require.Equal(t, names[0], overlay.Name)
	info, err := os.Stat(filepath.Join(dir, names[0]))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), info.ModTime(), time.Minute, "it was used")
}

func TestWhatCannotBeInstalledIsOneSentence(t *testing.T) {
	t.Parallel()
	source := newIndex(t)
	for name, tc := range map[string]struct {
		file, want string
		change     func(*Config)
	}{
		"another torch": {
			file: "alpha\ntorch==2.3.0\n", want: "line 2 of the requirements file asks for torch==2.3.0, and scripts run with torch 2.15.0 here: remove the version, or ask the administrator for another image",
		},
		"a package that needs another torch": {
			file: "modern", want: "the requirements file needs torch>=3, and scripts run with torch 2.15.0 here: choose versions of the packages that work with it, or ask the administrator for another image",
		},
		"an unknown package": {file: "tqdn", want: "the package index has no package tqdn (line 1 of the requirements file): correct its name, or remove it"},
		"an unknown version": {file: "alpha==9", want: "the package index has no version alpha==9 (line 1 of the requirements file): choose another version"},
		"only source code": {
			file: "#\nsource", want: "source 1.0 (line 2 of the requirements file) exists only as source code or for other versions of Python, and nothing is compiled here: choose another version, or ask the administrator to add it to the image",
		},
		"packages that exclude each other": {file: "alpha==2.0\ngamma", want: "the packages of the requirements file exclude each other: Because "},
		"a marker without sense":           {file: "alpha ; size < '3'", want: "a line of the requirements file cannot be read: Expected a quoted string or a valid marker name, found `size`"},
		"too many packages": {
			file: "alpha==2.0", want: "the requirements file needs 2 packages, the limit is 1: name fewer packages", change: func(c *Config) { c.MostPackages = 1 },
		},
		"too large":    {file: "heavy", want: "the packages of the requirements file are larger than 1 MiB: name fewer or smaller packages"},
		"not allowed":  {file: "gamma\nalpha\n", want: "the administrator does not allow these packages of the requirements file: alpha (line 2). Remove them, or ask the administrator to add them to the list", change: allow("gamma")},
		"not this new": {file: "beta>=2", want: "exclude each other", change: allow("beta<2")},
		"an address":   {file: "alpha @ http://127.0.0.1/alpha.whl", want: "line 1: addresses are not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, dir := newInstaller(t, source, tc.change)
			_, err := i.Install(t.Context(), []byte(tc.file))
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NotContains(t, err.Error(), "canary-password")
			require.NotContains(t, err.Error(), "127.0.0.1")
			entries, _ := os.ReadDir(dir)
			require.Empty(t, entries)
		})
	}
}

// allow makes an allow-list the only source of packages.
func allow(lines string) func(*Config) {
	return func(c *Config) {
		c.Mode = AllowList
		c.Allowed, _ = parse([]byte(lines))
		delete(c.Image, "beta")
	}
}

func TestAllowedPackagesBringWhatTheyNeed(t *testing.T) {
	t.Parallel()
	i, _ := newInstaller(t, newIndex(t), allow("alpha<2"))
	overlay, err := i.Install(t.Context(), []byte("alpha"))
	require.NoError(t, err)
	require.Equal(t, []string{"alpha==1.0", "beta==2.0"}, overlay.Packages)
}

func TestAnIndexThatDoesNotAnswerIsNotTheFaultOfTheUser(t *testing.T) {
	t.Parallel()
	i, dir := newInstaller(t, newIndex(t), func(c *Config) { c.IndexURL = "http://reader:canary-password@127.0.0.1:1/simple/" })
	_, err := i.Install(t.Context(), []byte("alpha"))
	require.ErrorContains(t, err, "the package index does not answer as expected")
	require.NotContains(t, err.Error(), "canary-password")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind)
	entries, _ := os.ReadDir(dir)
	require.Empty(t, entries)
}

func TestAnInstallationEndsInTime(t *testing.T) {
	t.Parallel()
	i, dir := newInstaller(t, newIndex(t), func(c *Config) { c.Timeout = time.Millisecond })
	_, err := i.Install(t.Context(), []byte("alpha"))
	require.ErrorContains(t, err, "were not installed within")
	entries, _ := os.ReadDir(dir)
	require.Empty(t, entries)

	i, _ = newInstaller(t, newIndex(t), nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the service is stopping")
	cancel(stop)
	_, err = i.Install(ctx, []byte("alpha"))
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind, "%v", err)
}
