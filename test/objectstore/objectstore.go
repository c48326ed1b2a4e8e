// Package objectstore starts a real MinIO for tests.
package objectstore

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/ports"
)

// The account that may do everything. The variables with the prefix Variables hold it.
const (
	User      = "objectstore-admin"
	Password  = "objectstore-secret"
	Variables = "OBJECTSTORE"
)

// Store is a running MinIO without buckets.
type Store struct {
	// Host is host:port, Endpoint its URL.
	Host, Endpoint string
	// Admin may do everything.
	Admin *minio.Client
}

// Start starts a MinIO for one test, which ends with the test. It sets the variables with the account.
func Start(t *testing.T) *Store {
	t.Helper()
	program := build(t)
	found, err := ports.Free(t.Context(), 1)
	require.NoError(t, err)
	s := &Store{Host: "127.0.0.1:" + strconv.Itoa(found[0])}
	s.Endpoint = "http://" + s.Host
	dir := t.TempDir()
	var log bytes.Buffer
	cmd := exec.Command(program, "server", "--quiet", "--address", s.Host, filepath.Join(dir, "data")) //nolint:noctx // ended below
	cmd.Env = []string{"HOME=" + dir, "MINIO_ROOT_USER=" + User, "MINIO_ROOT_PASSWORD=" + Password, "MINIO_BROWSER=off", "MINIO_UPDATE=off", "MINIO_CI_CD=1"}
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool { return s.ready(t.Context()) }, time.Minute, 50*time.Millisecond, "MinIO did not start")
	s.Admin, err = minio.New(s.Host, &minio.Options{Creds: credentials.NewStaticV4(User, Password, ""), TrailingHeaders: true})
	require.NoError(t, err)
	return s
}

// build returns the path of the program.
func build(t *testing.T) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	folder := cmp.Or(os.Getenv("CACHE"), filepath.Join(home, ".cache", "clowder-ray"))
	cmd := exec.Command(filepath.Join(filepath.Dir(file), "..", "setup", "minio.sh"), folder) //nolint:gosec,noctx // a file of this repository
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "build MinIO")
	return strings.TrimSpace(string(out))
}

func (s *Store) ready(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint+"/minio/health/ready", nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	answer, err := client.Do(req)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// Bucket makes a bucket with objects.
func (s *Store) Bucket(t *testing.T, name string, objects map[string]string) {
	t.Helper()
	require.NoError(t, s.Admin.MakeBucket(t.Context(), name, minio.MakeBucketOptions{}))
	for key, content := range objects {
		s.Put(t, name, key, content)
	}
}

// Put writes an object.
func (s *Store) Put(t *testing.T, bucket, key, content string) {
	t.Helper()
	_, err := s.Admin.PutObject(t.Context(), bucket, key, strings.NewReader(content), int64(len(content)), minio.PutObjectOptions{})
	require.NoError(t, err)
}

// Objects returns the content of all objects of a bucket by their keys.
func (s *Store) Objects(t *testing.T, bucket string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for info := range s.Admin.ListObjects(t.Context(), bucket, minio.ListObjectsOptions{Recursive: true}) {
		require.NoError(t, info.Err)
		object, err := s.Admin.GetObject(t.Context(), bucket, info.Key, minio.GetObjectOptions{})
		require.NoError(t, err)
		content, err := io.ReadAll(object)
		require.NoError(t, err)
		require.NoError(t, object.Close())
		all[info.Key] = string(content)
	}
	return all
}
