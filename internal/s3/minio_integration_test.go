//go:build integration

package s3

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/objectstore"
)

// fixture is a store over a real MinIO behind a proxy that can break.
type fixture struct {
	*Store
	minio  *objectstore.Store
	folder string
	broken func(*http.Request) *breakage // what happens to a request; nil is nothing
	mu     sync.Mutex
	seen   []string
}

// breakage breaks one answer.
type breakage struct {
	after  int64  // bytes of the answer after which the connection is cut
	status int    // or an answer of the proxy
	body   string // its text
}

// TestS3 shares one MinIO among the cases, which use buckets of their own.
func TestS3(t *testing.T) {
	t.Setenv(objectstore.Variables+"_ACCESS_KEY_ID", objectstore.User)
	t.Setenv(objectstore.Variables+"_SECRET_ACCESS_KEY", objectstore.Password)
	t.Setenv("WRONG_ACCESS_KEY_ID", objectstore.User)
	t.Setenv("WRONG_SECRET_ACCESS_KEY", "not the secret")
	server := objectstore.Start(t)
	for name, test := range map[string]func(*testing.T, *fixture){
		"stage":                         testStage,
		"one object":                    testStageOne,
		"broken downloads":              testBrokenDownloads,
		"replaced while read":           testReplaced,
		"refusals":                      testRefusals,
		"upload":                        testUpload,
		"upload again":                  testUploadAgain,
		"upload of a file that changes": testUploadChanged,
		"manifest of another":           testForeignManifest,
		"expired keys":                  testExpired,
	} {
		t.Run(name, func(t *testing.T) { test(t, newFixture(t, server)) })
	}
}

func newFixture(t *testing.T, server *objectstore.Store) *fixture {
	t.Helper()
	w := &fixture{minio: server, folder: t.TempDir()}
	target, err := url.Parse(server.Endpoint)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // MinIO checks the signature of the host that the client named
	}}
	front := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r.Method+" "+r.URL.Path)
		f := w.broken
		w.mu.Unlock()
		if f == nil {
			proxy.ServeHTTP(rw, r)
			return
		}
		switch b := f(r); {
		case b == nil:
			proxy.ServeHTTP(rw, r)
		case b.status != 0:
			rw.Header().Set("Content-Type", "application/xml")
			rw.WriteHeader(b.status)
			_, _ = io.WriteString(rw, b.body)
		default:
			proxy.ServeHTTP(&cutter{ResponseWriter: rw, left: b.after}, r)
		}
	})}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() { defer close(served); _ = front.Serve(l) }()
	t.Cleanup(func() { _ = front.Close(); <-served })

	bodies, err := cache.Open(disk.Folder{Volume: w.folder, Name: "cache"}, zaptest.NewLogger(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bodies.Close()) })
	place := Place{Endpoint: "http://" + l.Addr().String(), Private: true, Access: readWrite, Region: "us-east-1", Credentials: Credentials{Environment: objectstore.Variables}}
	var places []Place
	for _, bucket := range []string{"stage", "single", "cut", "replace", "refuse", "mirror", "again", "change", "foreign", "expire", "missing"} {
		place.Bucket = bucket
		places = append(places, place)
	}
	wrong := place
	wrong.Bucket, wrong.Prefix, wrong.Credentials.Environment = "refuse", "wrong", "WRONG"
	unset := place
	unset.Bucket, unset.Prefix, unset.Credentials.Environment = "refuse", "unset", "UNSET"
	public := place
	public.Bucket, public.Prefix, public.Private = "refuse", "public", false
	nobody := place
	nobody.Bucket, nobody.Prefix, nobody.Credentials = "refuse", "nobody", Credentials{}
	places = append(places, wrong, unset, public, nobody)
	w.Store = New(Config{Places: places}, Limits{Objects: 5, Bytes: 64 << 20}, bodies, zaptest.NewLogger(t))
	w.pause = time.Millisecond
	return w
}

// breaks sets what happens to requests from now on, and returns what was requested before.
func (w *fixture) breaks(f func(*http.Request) *breakage) (seen []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen, w.seen, w.broken = w.seen, nil, f
	return seen
}

func (w *fixture) stage(t *testing.T, address string) ([]job.Input, error) {
	t.Helper()
	return w.Stage(t.Context(), Request{Address: address, Dir: disk.Folder{Volume: w.folder, Name: "inputs"}, Place: "objects", Name: "data"}, func(string) {})
}

func testStage(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "stage", map[string]string{"set/a.csv": "one", "set/deep/b.csv": "two", "set/empty": "", "set/folder/": "", "settled": "no"})
	inputs, err := w.stage(t, "s3://stage/set/")
	require.NoError(t, err)
	require.Equal(t, []job.Input{
		{Name: "data/a.csv", Path: "objects/a.csv", Size: 3, SHA256: digest("one"), Source: "s3://stage/set/a.csv"},
		{Name: "data/deep/b.csv", Path: "objects/deep/b.csv", Size: 3, SHA256: digest("two"), Source: "s3://stage/set/deep/b.csv"},
		{Name: "data/empty", Path: "objects/empty", SHA256: digest(""), Source: "s3://stage/set/empty"},
	}, inputs)
	content, err := os.ReadFile(filepath.Join(w.folder, "inputs/objects/deep/b.csv"))
	require.NoError(t, err)
	require.Equal(t, "two", string(content))

	w.minio.Put(t, "stage", "set/a.csv", "new")
	w.breaks(nil)
	inputs, err = w.stage(t, "s3://stage/set")
	require.NoError(t, err)
	require.Equal(t, digest("new"), inputs[0].SHA256, "an object with other bytes is read again")
	var read []string
	for _, request := range w.breaks(nil) {
		if strings.HasPrefix(request, "GET /stage/set/") {
			read = append(read, request)
		}
	}
	require.Equal(t, []string{"GET /stage/set/a.csv"}, read, "the cache has the others")
}

func testStageOne(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "single", map[string]string{"deep/a.csv": "one", "deep/a.csv.bak": "two"})
	inputs, err := w.stage(t, "s3://single/deep/a.csv")
	require.NoError(t, err)
	require.Equal(t, []job.Input{{Name: "data/a.csv", Path: "objects/a.csv", Size: 3, SHA256: digest("one"), Source: "s3://single/deep/a.csv"}}, inputs)
}

// A connection that is cut again and again is continued where it broke, also where the object was written in parts.
func testBrokenDownloads(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "cut", nil)
	body := make([]byte, 12<<20)
	_, _ = rand.Read(body)
	_, err := w.minio.Admin.PutObject(t.Context(), "cut", "large", bytes.NewReader(body), int64(len(body)),
		minio.PutObjectOptions{PartSize: 5 << 20, Checksum: minio.ChecksumCRC64NVME})
	require.NoError(t, err)
	var reads atomic.Int32
	w.breaks(func(r *http.Request) *breakage {
		if r.Method == http.MethodGet && r.URL.Path == "/cut/large" {
			switch reads.Add(1) {
			case 2:
				return &breakage{status: http.StatusServiceUnavailable, body: "<Error><Code>SlowDown</Code></Error>"}
			case 1, 3, 4:
				return &breakage{after: 3 << 20}
			}
		}
		return nil
	})
	inputs, err := w.stage(t, "s3://cut/large")
	require.NoError(t, err)
	require.Equal(t, digest(string(body)), inputs[0].SHA256)
	require.GreaterOrEqual(t, reads.Load(), int32(5))
}

func testReplaced(t *testing.T, w *fixture) {
	t.Helper()
	old := strings.Repeat("o", 1<<20)
	w.minio.Bucket(t, "replace", map[string]string{"a": old})
	var once atomic.Bool
	w.breaks(func(r *http.Request) *breakage {
		if r.Method == http.MethodGet && r.URL.Path == "/replace/a" && once.CompareAndSwap(false, true) {
			w.minio.Put(t, "replace", "a", strings.Repeat("n", 1<<20))
		}
		return nil
	})
	_, err := w.stage(t, "s3://replace/a")
	requirePermanent(t, err, "s3://replace/a changed while it was read: submit again when nobody writes to it")
	w.breaks(nil)
	inputs, err := w.stage(t, "s3://replace/a")
	require.NoError(t, err)
	require.Equal(t, digest(strings.Repeat("n", 1<<20)), inputs[0].SHA256)
}

func testRefusals(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "refuse", map[string]string{
		"many/1": "", "many/2": "", "many/3": "", "many/4": "", "many/5": "", "many/6": "", "both/a": "1", "nobody/a": "1",
	})
	for address, want := range map[string]string{
		"s3://refuse/none":   "s3://refuse/none has no objects: check the name of the folder",
		"s3://missing/a":     "the bucket missing does not exist: check its name",
		"s3://refuse/many":   "s3://refuse/many holds more than is allowed, which is 5 objects or 64 MiB: name a smaller folder",
		"s3://other/a":       "s3://other/a cannot be read from here: ask the administrator of the extractor to add it to S3_SOURCES for you",
		"s3://refuse/nobody": "the store does not allow to list s3://refuse/nobody: ask the administrator of the extractor to allow it in S3_SOURCES and in the store",
		"no address":         "write s3://bucket/folder",
	} {
		_, err := w.stage(t, address)
		requirePermanent(t, err, want)
	}
	// These are faults of the administrator: the job waits.
	for address, want := range map[string]string{
		"s3://refuse/wrong/a":  "S3_SOURCES: the bucket refuse has credentials that the store refuses: correct them",
		"s3://refuse/public/a": "S3_SOURCES: the bucket refuse has an endpoint with a private address: set private: true for it",
		"s3://refuse/unset/a":  "UNSET_ACCESS_KEY_ID or UNSET_SECRET_ACCESS_KEY is not set",
	} {
		_, err := w.stage(t, address)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindRetryable, kind, address)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), objectstore.Password)
	}
}

// files makes a set of files from their content.
func testUpload(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "mirror", nil)
	const at = "s3://mirror/runs/"
	require.NoError(t, w.Check(at, Requester{}))
	first := Set{Run: "ft-a", Name: "checkpoints/1", Files: files(map[string]string{"a.pt": "weights", "log.txt": "1"})}
	require.NoError(t, w.Upload(t.Context(), at, Requester{}, first))
	second := Set{Run: "ft-a", Name: "checkpoints/2", Files: files(map[string]string{"a.pt": "weights", "log.txt": "12"}), Before: "checkpoints/1"}
	w.breaks(nil)
	require.NoError(t, w.Upload(t.Context(), at, Requester{}, second))
	require.NoError(t, w.Remove(t.Context(), at, Requester{}, "ft-a", "checkpoints/1"))
	require.NoError(t, w.Remove(t.Context(), at, Requester{}, "ft-a", "checkpoints/1"), "removing twice is no error")
	objects := w.minio.Objects(t, "mirror")
	require.Contains(t, objects["runs/ft-a/checkpoints/2.json"], digest("weights"))
	delete(objects, "runs/ft-a/checkpoints/2.json")
	require.Equal(t, map[string]string{"runs/ft-a/checkpoints/2/a.pt": "weights", "runs/ft-a/checkpoints/2/log.txt": "12"}, objects)
	info, err := w.minio.Admin.StatObject(t.Context(), "mirror", "runs/ft-a/checkpoints/2/a.pt", minio.StatObjectOptions{})
	require.NoError(t, err)
	require.Equal(t, digest("weights"), info.UserMetadata[sumHeader], "a copy inside the store keeps the sha256")
}

// A process that is killed while it uploads leaves a set without a manifest, which the next one completes: nothing is sent twice.
func testUploadAgain(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "again", nil)
	set := Set{Run: "ft-a", Name: "outputs", Files: files(map[string]string{"a.pt": "weights", "b/c.pt": "more", "log.txt": "1"})}
	w.breaks(func(r *http.Request) *breakage {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".json") {
			return &breakage{status: http.StatusForbidden, body: "<Error><Code>AccessDenied</Code></Error>"}
		}
		return nil
	})
	requirePermanent(t, w.Upload(t.Context(), "s3://again", Requester{}, set), "does not allow to write to s3://again/ft-a")
	require.NotContains(t, w.minio.Objects(t, "again"), "ft-a/outputs.json")
	require.NoError(t, w.minio.Admin.RemoveObject(t.Context(), "again", "ft-a/outputs/b/c.pt", minio.RemoveObjectOptions{}))
	w.breaks(nil)
	require.NoError(t, w.Upload(t.Context(), "s3://again", Requester{}, set))
	var sent []string
	for _, request := range w.breaks(nil) {
		if strings.HasPrefix(request, "PUT ") {
			sent = append(sent, request)
		}
	}
	require.Equal(t, []string{"PUT /again/ft-a/outputs/b/c.pt", "PUT /again/ft-a/outputs.json"}, sent)
	require.Len(t, w.minio.Objects(t, "again"), 4)
	require.NoError(t, w.Upload(t.Context(), "s3://again", Requester{}, set))
	require.NotContains(t, strings.Join(w.breaks(nil), "\n"), "PUT", "a complete set is not touched")
}

func testUploadChanged(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "change", nil)
	set := Set{Run: "ft-a", Name: "outputs", Files: files(map[string]string{"a.pt": "weights"})}
	set.Files[0].Open = func() (io.ReadCloser, error) {
		return io.NopCloser(disk.Verify(strings.NewReader("WEIGHTS"), "a.pt", 7, set.Files[0].SHA256)), nil
	}
	err := w.Upload(t.Context(), "s3://change", Requester{}, set)
	require.ErrorIs(t, err, disk.ErrChanged)
	require.Empty(t, w.minio.Objects(t, "change"), "bytes that differ from the list never arrive")
	gone := errors.New("gone")
	set.Files[0].Open = func() (io.ReadCloser, error) { return nil, gone }
	require.ErrorIs(t, w.Upload(t.Context(), "s3://change", Requester{}, set), gone)
}

func testForeignManifest(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "foreign", map[string]string{"ft-a/outputs.json": "my notes"})
	set := Set{Run: "ft-a", Name: "outputs", Files: files(map[string]string{"a.pt": "weights"})}
	requirePermanent(t, w.Upload(t.Context(), "s3://foreign", Requester{}, set), "has a file outputs.json that is not of this service: name another folder")
	require.Equal(t, map[string]string{"ft-a/outputs.json": "my notes"}, w.minio.Objects(t, "foreign"))
}

// Keys that expire while a run goes on are a fault that the administrator can correct, and then the upload goes on.
func testExpired(t *testing.T, w *fixture) {
	t.Helper()
	w.minio.Bucket(t, "expire", nil)
	set := Set{Run: "ft-a", Name: "outputs", Files: files(map[string]string{"a.pt": "weights"})}
	w.breaks(func(*http.Request) *breakage {
		return &breakage{status: http.StatusBadRequest, body: "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"}
	})
	err := w.Upload(t.Context(), "s3://expire", Requester{}, set)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind)
	require.ErrorContains(t, err, "S3_SOURCES: the bucket expire has credentials that have expired: renew them")
	w.breaks(nil)
	require.NoError(t, w.Upload(t.Context(), "s3://expire", Requester{}, set))
}
