//go:build integration

package requirements

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// index is a package index of a folder: a page for each package that lists its files.
type index struct {
	dir      string
	url      string
	requests atomic.Int64
}

// newIndex serves an index with these packages:
//
//	alpha 1.0 and 2.0, which need beta of the same version; alpha 2.0 brings code that would run by itself
//	beta 1.0 and 2.0; gamma, which needs beta below 2; modern, which needs torch 3; heavy, which is large
//	source, which is not built
func newIndex(t *testing.T) *index {
	t.Helper()
	i := &index{dir: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.requests.Add(1)
		if user, password, _ := r.BasicAuth(); user != "reader" || password != "canary-password" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.FileServer(http.Dir(i.dir)).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.url = strings.Replace(server.URL, "://", "://reader:canary-password@", 1) + "/simple/"
	i.wheel(t, "alpha", "1.0", []string{"beta>=1"}, nil)
	i.wheel(t, "alpha", "2.0", []string{"beta>=2"}, map[string]string{
		"alpha.pth": "import os; os.mkdir('/tmp/pwned')", "sitecustomize.py": "raise SystemExit", "alpha/deep/more.py": "y = 1\n",
	})
	i.wheel(t, "beta", "1.0", nil, nil)
	i.wheel(t, "beta", "2.0", nil, nil)
	i.wheel(t, "gamma", "1.0", []string{"beta<2"}, nil)
	i.wheel(t, "modern", "1.0", []string{"torch>=3"}, nil)
	i.wheel(t, "heavy", "1.0", nil, map[string]string{"heavy/data.bin": strings.Repeat("x", 3<<20)})
	i.source(t, "source", "1.0")
	return i
}

func (i *index) wheel(t *testing.T, name, version string, needs []string, more map[string]string) {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	var metadata strings.Builder
	_, _ = fmt.Fprintf(&metadata, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)
	for _, need := range needs {
		metadata.WriteString("Requires-Dist: " + need + "\n")
	}
	files := map[string]string{
		name + "/__init__.py": fmt.Sprintf("version = %q\n", version), info + "METADATA": metadata.String(),
		info + "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	maps.Copy(files, more)
	var record strings.Builder
	for path := range files {
		record.WriteString(path + ",,\n")
	}
	files[info+"RECORD"] = record.String() + info + "RECORD,,\n"
	var body bytes.Buffer
	archive := zip.NewWriter(&body)
	for path, content := range files {
		w, err := archive.Create(path)
		require.NoError(t, err)
		_, err = w.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	i.add(t, name, fmt.Sprintf("%s-%s-py3-none-any.whl", name, version), body.Bytes())
}

// source adds a package that would have to be built, and leaves a file when it is.
func (i *index) source(t *testing.T, name, version string) {
	t.Helper()
	var body bytes.Buffer
	zipped := gzip.NewWriter(&body)
	archive := tar.NewWriter(zipped)
	for path, content := range map[string]string{
		"PKG-INFO": "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n",
		"setup.py": "raise SystemExit('built')",
	} {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name + "-" + version + "/" + path, Size: int64(len(content)), Mode: 0o644}))
		_, err := archive.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipped.Close())
	i.add(t, name, name+"-"+version+".tar.gz", body.Bytes())
}

func (i *index) add(t *testing.T, name, file string, body []byte) {
	t.Helper()
	dir := filepath.Join(i.dir, "simple", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), body, 0o600))
}

// withUV returns a Python that has uv.
func withUV(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("RAY_PYTHON"), "python", "python3"} {
		python, err := Interpreter(name)
		if err == nil && exec.CommandContext(t.Context(), python, "-I", "-m", "uv", "--version").Run() == nil {
			return python
		}
	}
	t.Skip("no Python with uv is here: set RAY_PYTHON to one")
	return ""
}

// newInstaller returns an installer that installs from the index into a new folder.
func newInstaller(t *testing.T, i *index, change func(*Config)) (*Installer, string) {
	t.Helper()
	cfg := Config{
		Mode: Index, IndexURL: job.Secret(i.url), Image: map[string]string{"torch": "2.15.0", "numpy": "2.4.6", "beta": "1.0", "nvidia-cublas": "13.4.1.3"},
		Python: withUV(t), MostPackages: 10, MostBytes: 1 << 20, Timeout: time.Minute,
	}
	if change != nil {
		change(&cfg)
	}
	dir := t.TempDir()
	return New(cfg, disk.Folder{Volume: dir, Name: "overlays"}), filepath.Join(dir, "overlays")
}
