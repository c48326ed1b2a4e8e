package requirements

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestALockFileIsRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lock string
		want []pin
	}{
		"an empty file": {"", nil},
		"a package with two wheels": {
			"alpha==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n",
			[]pin{{"alpha", "1.0", []string{"--hash=sha256:aa", "--hash=sha256:bb"}}},
		},
		"two packages keep their own wheels": {
			"alpha==1.0 \\\n    --hash=sha256:aa\nbeta==2.0 \\\n    --hash=sha256:bb\n",
			[]pin{{"alpha", "1.0", []string{"--hash=sha256:aa"}}, {"beta", "2.0", []string{"--hash=sha256:bb"}}},
		},
		"a name as an index uses it": {"My_Package==1.0", []pin{{"my-package", "1.0", nil}}},
		"an extra and a condition":   {"alpha[fast]==1.0 ; python_version >= '3.9' \\\n    --hash=sha256:aa", []pin{{"alpha", "1.0", []string{"--hash=sha256:aa"}}}},
		"a condition with a version": {"alpha==1.0 ; python_full_version == '3.12.*'", []pin{{"alpha", "1.0", nil}}},
		"a comment":                  {"# alpha==1.0\nbeta==1.0\n", []pin{{"beta", "1.0", nil}}},
		"a hash of no package":       {"    --hash=sha256:aa\nalpha==1.0\n", []pin{{"alpha", "1.0", nil}}},
		"line ends of Windows":       {"alpha==1.0 \\\r\n    --hash=sha256:aa\r\n", []pin{{"alpha", "1.0", []string{"--hash=sha256:aa"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, readLock(tc.lock))
		})
	}
}

// written is what uv reads of an installation.
func written(t *testing.T, cfg Config, file string) (inputs map[string]string, dir string) {
	t.Helper()
	lines, err := Parse([]byte(file))
	require.NoError(t, err)
	w := &work{cfg: cfg, dir: t.TempDir(), lines: lines}
	protected := map[string]string{}
	for name, version := range cfg.Image {
		if isProtected(name) {
			protected[name] = version
		}
	}
	require.NoError(t, w.writeInputs(protected))
	inputs = map[string]string{}
	for _, name := range []string{"in.txt", "constraints.txt", "lock.txt"} {
		doc, err := os.ReadFile(filepath.Join(w.dir, name))
		require.NoError(t, err)
		inputs[name] = strings.TrimSpace(string(doc))
	}
	return inputs, w.dir
}

func TestUVReadsTheLinesAndWhatTheyMayNotChange(t *testing.T) {
	t.Parallel()
	image := map[string]string{"torch": "2.15.0", "nvidia-cublas": "13.4", "tqdm": "4.0"}
	allowed := []Line{{Name: "alpha", Version: "<2"}, {Name: "beta"}}
	for name, tc := range map[string]struct {
		mode        string
		constraints string
	}{
		"each package of the index": {Index, "nvidia-cublas==13.4\ntorch==2.15.0"},
		"the packages of a list":    {AllowList, "nvidia-cublas==13.4\ntorch==2.15.0\nalpha<2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs, _ := written(t, Config{Mode: tc.mode, Image: image, Allowed: allowed}, "# mine\nalpha >= 1\nbeta[fast]\n")
			require.Equal(t, "alpha>=1\nbeta[fast]", inputs["in.txt"])
			require.Equal(t, tc.constraints, inputs["constraints.txt"])
			require.Equal(t, "nvidia-cublas==13.4\ntorch==2.15.0\ntqdm==4.0", inputs["lock.txt"], "uv prefers the versions of the image")
		})
	}
}

func TestAProtectedPackageStandsForItselfWithoutItsDependencies(t *testing.T) {
	t.Parallel()
	_, dir := written(t, Config{Mode: Index, Image: map[string]string{"nvidia-cublas": "13.4", "tqdm": "4.0"}}, "alpha")
	entries, err := os.ReadDir(filepath.Join(dir, stubFolder))
	require.NoError(t, err)
	require.Len(t, entries, 1, "tqdm may change")
	require.Equal(t, "nvidia_cublas-13.4-py3-none-any.whl", entries[0].Name(), "the name of a wheel has no dash")
	archive, err := zip.OpenReader(filepath.Join(dir, stubFolder, entries[0].Name()))
	require.NoError(t, err)
	defer func() { require.NoError(t, archive.Close()) }()
	file, err := archive.Open("nvidia_cublas-13.4.dist-info/METADATA")
	require.NoError(t, err)
	metadata, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Contains(t, string(metadata), "Name: nvidia_cublas\nVersion: 13.4\n")
	require.NotContains(t, string(metadata), "Requires-Dist")
	require.Len(t, archive.File, 3, "a stub has no code")
}

func TestPackagesThatAreCompiledForEachOtherKeepTheirVersions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"torch": true, "ray": true, "numpy": true, "nvidia-nccl": true, "cuda-bindings": true,
		"torchmetrics": false, "ray-extra": false, "nvidia": false, "transformers": false, "": false,
	} {
		require.Equal(t, want, isProtected(name), name)
	}
}

func TestAListAllowsItsPackagesAndThoseOfTheImage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ mode, file, want string }{
		"a package of the list":        {AllowList, "Alpha==1", ""},
		"a package of the image":       {AllowList, "torch", ""},
		"no package":                   {AllowList, "# none", ""},
		"a strange package":            {AllowList, "alpha\n\nbeta", "beta (line 3). Remove them, or ask the administrator"},
		"more than anybody reads":      {AllowList, "a\nb\nc\nd\ne\nf\ng", "a (line 1), b (line 2), c (line 3), d (line 4), e (line 5). Remove"},
		"each package, with no list":   {Index, "beta", ""},
		"a name with another spelling": {AllowList, "al_pha.x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := New(Config{Mode: tc.mode, Image: map[string]string{"torch": "2.15.0"}, Allowed: []Line{{Name: "alpha"}, {Name: "al-pha-x"}}}, disk.Folder{})
			lines, err := Parse([]byte(tc.file))
			require.NoError(t, err)
			err = i.allowed(lines)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestAnInstallationHasNothingThatPythonRunsByItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, file := range []string{
		"alpha/__init__.py", "alpha/data.pth.txt", "alpha.pth", "sitecustomize.py", "alpha/usercustomize.py",
		"sitecustomize.cpython-313-x86_64-linux-gnu.so", "usercustomize/__init__.py",
	} {
		path := filepath.Join(dir, site, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, site, "alpha", "link")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	require.NoError(t, seal(root, site))
	modes := map[string]os.FileMode{}
	require.NoError(t, filepath.Walk(filepath.Join(dir, site), func(path string, info os.FileInfo, err error) error {
		name, _ := filepath.Rel(dir, path)
		modes[name] = info.Mode().Perm()
		return err
	}))
	require.Equal(t, map[string]os.FileMode{
		"site": 0o755, "site/alpha": 0o755, "site/alpha/__init__.py": 0o444, "site/alpha/data.pth.txt": 0o444,
	}, modes)
}

func TestTheSizeOfAnInstallationIsThatOfItsFiles(t *testing.T) {
	t.Parallel()
	w := &work{cfg: Config{MostBytes: 2 << 20}, dir: t.TempDir()}
	require.Zero(t, w.size(), "nothing is installed yet")
	require.NoError(t, os.MkdirAll(filepath.Join(w.dir, site, "alpha"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, site, "alpha", "data"), make([]byte, 1000), 0o600))
	require.NoError(t, os.Symlink("data", filepath.Join(w.dir, site, "alpha", "link")))
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "cache"), make([]byte, 5000), 0o600))
	require.EqualValues(t, 1000, w.size(), "a link and the cache of uv are not delivered")
	require.ErrorContains(t, w.tooLarge(), "larger than 2 MiB: name fewer or smaller packages")
}

func TestTheOutputOfUVIsBounded(t *testing.T) {
	t.Parallel()
	output := &limited{}
	for range 3 {
		n, err := output.Write(make([]byte, mostOutput/2+1))
		require.NoError(t, err)
		require.Equal(t, mostOutput/2+1, n, "uv must not stop because of a short write")
	}
	require.Equal(t, mostOutput, output.Len())
}
