package clowder_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/nginx"
	"github.com/ncsa/clowder-ray/test/ports"
)

// serveVar makes the test binary a double of its own, so that client and server do not share a process.
const serveVar = "CLOWDERTEST_SERVE_DIR"

type served struct{ URL, Key string }

// serveDouble runs a double until standard input ends.
func serveDouble(dir string) int {
	server, err := clowdertest.New(clowdertest.Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = json.NewEncoder(os.Stdout).Encode(served{server.URL, server.Key("alice@example.org")})
	_, _ = io.Copy(io.Discard, os.Stdin)
	if server.Close() != nil {
		return 1
	}
	return 0
}

// startDoubleProcess starts a double in a process of its own and returns a session on it and its address.
func startDoubleProcess(tb testing.TB) served {
	tb.Helper()
	exe, err := os.Executable()
	require.NoError(tb, err)
	cmd := exec.CommandContext(context.Background(), exe)
	cmd.Env = append(os.Environ(), serveVar+"="+tb.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(tb, err)
	out, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		require.NoError(tb, in.Close())
		require.NoError(tb, cmd.Wait())
	})
	var hello served
	require.NoError(tb, json.NewDecoder(bufio.NewReader(out)).Decode(&hello))
	return hello
}

// peakMemory runs fn and returns the most resident memory of this process meanwhile, in bytes.
func peakMemory(tb testing.TB, fn func()) int64 {
	tb.Helper()
	require.NoError(tb, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600))
	fn()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(tb, err)
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	require.True(tb, found)
	kB, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	require.NoError(tb, err)
	return kB << 10
}

// curl runs curl with a configuration and returns how long it took.
func curl(tb testing.TB, config string, args ...string) time.Duration {
	tb.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		tb.Skip("curl is not installed, so there is nothing to compare with")
	}
	file := filepath.Join(tb.TempDir(), "curl.conf")
	require.NoError(tb, os.WriteFile(file, []byte(config), 0o600))
	start := time.Now()
	out, err := exec.CommandContext(tb.Context(), "curl", append(args, "-sS", "--fail", "-K", file)...).CombinedOutput()
	require.NoError(tb, err, string(out))
	return time.Since(start)
}

// curlConfig fetches each file into dir.
func curlConfig(at served, dir string, files []clowder.File) string {
	var conf strings.Builder
	fmt.Fprintf(&conf, "header = \"X-API-KEY: %s\"\n", at.Key)
	for i, f := range files {
		fmt.Fprintf(&conf, "url = \"%s/api/v2/files/%s?increment=false\"\noutput = \"%s/%d\"\n", at.URL, f.ID, dir, i)
	}
	return conf.String()
}

// keep does what the service also does: it hashes the files in dir and makes them durable. It returns how long that took.
func keep(tb testing.TB, dir string) time.Duration {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "sh", "-c", "find . -type f -print0 | xargs -0 sha256sum >/dev/null && sync -f .")
	cmd.Dir = dir
	start := time.Now()
	out, err := cmd.CombinedOutput()
	require.NoError(tb, err, string(out))
	return time.Since(start)
}

// compare stages files with an empty cache and with curl in turn, now one first and now the other, and reports the medians
// of two ratios: to curl alone, and to curl with the hashes and the sync that a staging includes. Making files takes this long
// or ten times as long on a disk that others use.
func compare(b *testing.B, at served, s func() *clowder.Session, files []clowder.File, curlArgs ...string) {
	b.Helper()
	var bytes, peak int64
	for _, f := range files {
		bytes += f.Size
	}
	var alone, kept, rates []float64
	for round := 0; b.Loop(); round++ {
		var ours, theirs, keeping time.Duration
		runs := []func(){
			func() {
				dir := b.TempDir()
				theirs = curl(b, curlConfig(at, dir, files), curlArgs...)
				keeping = keep(b, dir)
			},
			func() {
				session, dir := s(), b.TempDir()
				peak = max(peak, peakMemory(b, func() {
					start := time.Now()
					_, err := session.Stage(b.Context(), files, disk.Folder{Volume: dir}, nil)
					require.NoError(b, err)
					ours = time.Since(start)
				}))
			},
		}
		runs[round%2]()
		runs[1-round%2]()
		alone = append(alone, theirs.Seconds()/ours.Seconds())
		kept = append(kept, (theirs+keeping).Seconds()/ours.Seconds())
		rates = append(rates, 1/ours.Seconds())
	}
	b.ReportMetric(median(alone), "x-curl")
	b.ReportMetric(median(kept), "x-curl-hashed-synced")
	b.ReportMetric(median(rates)*float64(bytes)/1e6, "MB/s")
	b.ReportMetric(median(rates)*float64(len(files)), "files/s")
	b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func benchSession(b *testing.B, at served) func() *clowder.Session {
	b.Helper()
	return func() *clowder.Session {
		return clienttest.New(b, clowder.Config{URL: at.URL, Cache: disk.Folder{Volume: b.TempDir()}}).As(job.Secret(at.Key))
	}
}

func BenchmarkDownloadOneGigabyte(b *testing.B) {
	at := startDoubleProcess(b)
	s := benchSession(b, at)
	ds, err := s().CreateDataset(b.Context(), "one big file", "")
	require.NoError(b, err)
	_, err = s().Upload(b.Context(), ds.ID, "", zeros("big.bin", 1<<30))
	require.NoError(b, err)
	files, err := s().Files(b.Context(), ds.ID)
	require.NoError(b, err)
	compare(b, at, s, files)
}

// BenchmarkDownloadManySmallFiles takes them from the double, which needs as much CPU for a file as curl, and from NGINX, which needs little.
func BenchmarkDownloadManySmallFiles(b *testing.B) {
	const many = 5000
	body := func(i int) string { return fmt.Sprintf("%04d", i) + strings.Repeat("x", 4092) }
	parallel := []string{"--parallel", "--parallel-max", "16"}
	b.Run("double", func(b *testing.B) {
		at := startDoubleProcess(b)
		s := benchSession(b, at)
		seeder := s()
		ds, err := seeder.CreateDataset(b.Context(), "many small files", "")
		require.NoError(b, err)
		for i := range many {
			_, err = seeder.Upload(b.Context(), ds.ID, "", text(fmt.Sprintf("%d.txt", i), "text/plain", body(i)))
			require.NoError(b, err)
		}
		files, err := seeder.Files(b.Context(), ds.ID)
		require.NoError(b, err)
		compare(b, at, s, files, parallel...)
	})
	b.Run("nginx", func(b *testing.B) {
		dir := b.TempDir()
		files := make([]clowder.File, many)
		for i := range files {
			name, content := fmt.Sprintf("%d.txt", i), []byte(body(i))
			files[i] = clowder.File{ID: fmt.Sprintf("%024x", i), Name: name, Path: name, Size: int64(len(content)), Version: 1}
			require.NoError(b, os.WriteFile(filepath.Join(dir, files[i].ID), content, 0o600))
		}
		port, err := ports.Free(b.Context(), 1)
		require.NoError(b, err)
		nginx.Start(b, port[0], "location /api/v2/files/ { alias "+dir+"/; sendfile on; tcp_nopush on; open_file_cache max=10000; keepalive_requests 100000; }")
		at := served{URL: fmt.Sprintf("http://127.0.0.1:%d", port[0]), Key: "none"}
		compare(b, at, benchSession(b, at), files, parallel...)
	})
}

// BenchmarkDownloadFromClowder compares on a dataset of a real Clowder v2, which CLOWDER_URL, CLOWDER_KEY and CLOWDER_DATASET name.
func BenchmarkDownloadFromClowder(b *testing.B) {
	at, dataset := served{URL: os.Getenv("CLOWDER_URL"), Key: os.Getenv("CLOWDER_KEY")}, os.Getenv("CLOWDER_DATASET")
	if at.URL == "" || at.Key == "" || dataset == "" {
		b.Skip("no dataset of a real Clowder v2: CLOWDER_URL, CLOWDER_KEY or CLOWDER_DATASET is not set")
	}
	s := benchSession(b, at)
	files, err := s().Files(b.Context(), dataset)
	require.NoError(b, err)
	compare(b, at, s, files, "--parallel", "--parallel-max", "16")
}

// BenchmarkUploadOneGigabyte shows that memory does not grow with the size.
func BenchmarkUploadOneGigabyte(b *testing.B) {
	at := startDoubleProcess(b)
	s := benchSession(b, at)()
	ds, err := s.CreateDataset(b.Context(), "uploads", "")
	require.NoError(b, err)
	var peak int64
	for b.Loop() {
		peak = max(peak, peakMemory(b, func() {
			_, err := s.Upload(b.Context(), ds.ID, "", zeros("big.bin", 1<<30))
			require.NoError(b, err)
		}))
	}
	b.SetBytes(1 << 30)
	b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
}
