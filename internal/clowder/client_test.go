package clowder_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// bench is a double with one dataset and a session of its owner.
type bench struct {
	server *clowdertest.Server
	client *clowder.Client
	s      *clowder.Session
	ds     string
}

func setup(t *testing.T, cfg clowder.Config) bench {
	t.Helper()
	server := startDouble(t, clowdertest.Options{})
	cfg.URL = server.URL
	client := clienttest.New(t, cfg)
	return bench{server, client, client.As(job.Secret(server.Key("alice@example.org"))), server.AddDataset("alice@example.org", "d")}
}

func (b bench) add(t *testing.T, path, content string) clowder.File {
	t.Helper()
	id, err := b.server.AddFile(b.ds, path, strings.NewReader(content))
	require.NoError(t, err)
	return clowder.File{ID: id, Name: path, Path: path, Size: int64(len(content)), Version: 1}
}

func TestEveryStatusHasItsOutcome(t *testing.T) {
	t.Parallel()
	for status, tc := range map[int]struct {
		get, post job.Kind
		text      string
	}{
		301: {job.KindPermanent, job.KindPermanent, "check CLOWDER_URL"},
		400: {job.KindPermanent, job.KindPermanent, "did not accept the request"},
		401: {job.KindPermanent, job.KindPermanent, "submit the job again"},
		403: {job.KindPermanent, job.KindPermanent, "ask the dataset owner"},
		404: {job.KindPermanent, job.KindPermanent, "it was deleted, or you may not see it"},
		408: {job.KindRetryable, job.KindUnknown, "had an error"},
		409: {job.KindPermanent, job.KindPermanent, "did not accept the request"},
		413: {job.KindPermanent, job.KindPermanent, "raise the upload limit"},
		418: {job.KindPermanent, job.KindPermanent, "did not accept the request"},
		422: {job.KindPermanent, job.KindPermanent, "A fault that a test asked for"},
		425: {job.KindRetryable, job.KindRetryable, "had an error"},
		429: {job.KindLater, job.KindLater, "too many requests"},
		500: {job.KindRetryable, job.KindUnknown, "had an error"},
		502: {job.KindRetryable, job.KindUnknown, "had an error"},
		503: {job.KindRetryable, job.KindUnknown, "had an error"},
		504: {job.KindRetryable, job.KindUnknown, "had an error"},
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			b := setup(t, clowder.Config{Attempts: 1})
			b.server.Fail(clowdertest.Fault{Status: status})
			_, err := b.s.Dataset(t.Context(), b.ds)
			clienttest.RequireKind(t, err, tc.get, status)
			require.ErrorContains(t, err, tc.text)
			_, err = b.s.AddMetadata(t.Context(), b.ds, clowder.Metadata{})
			clienttest.RequireKind(t, err, tc.post, status)
			_, err = b.s.Upload(t.Context(), b.ds, "", text("a.txt", "", "a"))
			clienttest.RequireKind(t, err, tc.post, status)
		})
	}
}

func TestReadsAreRepeatedAndWritesAreNot(t *testing.T) {
	t.Parallel()
	b := setup(t, clowder.Config{})
	b.server.Fail(clowdertest.Fault{Status: 503, Times: 3})
	_, err := b.s.Dataset(t.Context(), b.ds)
	require.NoError(t, err)
	require.Equal(t, 4, b.server.Requests("GET", "/datasets/"))
	b.server.Fail(clowdertest.Fault{Status: 503, Times: 1})
	_, err = b.s.Submit(t.Context(), b.ds, "x", nil)
	clienttest.RequireKind(t, err, job.KindUnknown, 503)
	require.Equal(t, 1, b.server.Requests("POST", "/extract"))
}

func TestTransportErrors(t *testing.T) {
	t.Parallel()
	t.Run("a post that could not leave is worth another attempt", func(t *testing.T) {
		t.Parallel()
		socket, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, socket.Close())
		s := clienttest.New(t, clowder.Config{URL: "http://" + socket.Addr().String(), Attempts: 1}).As("KEY")
		_, err = s.Upload(t.Context(), missingID, "", text("a", "", "b"))
		clienttest.RequireKind(t, err, job.KindRetryable, 0)
		require.ErrorContains(t, err, "connection refused")
		_, err = s.Submit(t.Context(), missingID, "x", nil)
		clienttest.RequireKind(t, err, job.KindRetryable, 0)
	})
	t.Run("a post whose answer was cut may have worked", func(t *testing.T) {
		t.Parallel()
		b := setup(t, clowder.Config{})
		b.server.Fail(clowdertest.Fault{Method: "POST", Cut: -1, Times: 1})
		_, err := b.s.Upload(t.Context(), b.ds, "", text("a.txt", "", "abc"))
		clienttest.RequireKind(t, err, job.KindUnknown, 0)
		files, err := b.s.Files(t.Context(), b.ds)
		require.NoError(t, err)
		require.Len(t, files, 1)
	})
	t.Run("a post that hangs is given up and may have worked", func(t *testing.T) {
		t.Parallel()
		// On a busy machine a request takes some time to leave, and one that could not leave did not work.
		b := setup(t, clowder.Config{CallTimeout: time.Second, AnswerTimeout: time.Second})
		b.server.Fail(clowdertest.Fault{Method: "POST", Hang: true, After: true})
		_, err := b.s.Upload(t.Context(), b.ds, "", text("a.txt", "", "abc"))
		clienttest.RequireKind(t, err, job.KindUnknown, 0)
		require.ErrorContains(t, err, "no data arrived for too long")
		_, err = b.s.AddMetadata(t.Context(), b.ds, clowder.Metadata{})
		clienttest.RequireKind(t, err, job.KindUnknown, 0)
	})
	t.Run("an answer of something else is not taken for Clowder's", func(t *testing.T) {
		t.Parallel()
		b := setup(t, clowder.Config{Attempts: 1})
		b.server.Fail(clowdertest.Fault{Status: 200, Body: "<html>Maintenance</html>"})
		_, err := b.s.Dataset(t.Context(), b.ds)
		clienttest.RequireKind(t, err, job.KindRetryable, 0)
		_, err = b.s.Upload(t.Context(), b.ds, "", text("a.txt", "", "abc"))
		clienttest.RequireKind(t, err, job.KindUnknown, 0)
		found, err := b.client.Check(t.Context(), versions.Abouts())
		require.Error(t, err)
		require.Empty(t, found)
	})
	t.Run("a stop of the service stays recognisable", func(t *testing.T) {
		t.Parallel()
		b := setup(t, clowder.Config{})
		b.server.Fail(clowdertest.Fault{Hang: true})
		ctx, cancel := newCause(t)
		go cancel(errStop)
		_, err := b.s.Dataset(ctx, b.ds)
		require.ErrorIs(t, err, errStop)
		_, err = b.s.Stage(ctx, []clowder.File{{ID: missingID, Name: "a", Path: "a"}}, disk.Folder{Volume: t.TempDir()}, nil)
		require.ErrorIs(t, err, errStop)
	})
	t.Run("an endless answer is not read", func(t *testing.T) {
		t.Parallel()
		b := setup(t, clowder.Config{})
		b.server.Fail(clowdertest.Fault{Extra: 20 << 20})
		_, err := b.s.Dataset(t.Context(), b.ds)
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		require.ErrorContains(t, err, "sent more than 16 MiB")
	})
}

func TestAFolderWhoseAnswerIsLostIsFound(t *testing.T) {
	t.Parallel()
	b := setup(t, clowder.Config{})
	b.server.Fail(clowdertest.Fault{Method: "POST", Path: "/folders", Status: 500, After: true, Times: 1})
	_, err := b.s.AddFolder(t.Context(), b.ds, "", "finetune")
	clienttest.RequireKind(t, err, job.KindUnknown, 500)
	found, err := b.s.FindFolder(t.Context(), b.ds, "", "finetune")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	require.Equal(t, 1, b.server.Requests("POST", "/folders"), "it is not repeated")
}

func TestUploadsInFlight(t *testing.T) {
	t.Parallel()
	t.Run("are waited for", func(t *testing.T) {
		t.Parallel()
		b := setup(t, clowder.Config{InFlightWait: time.Minute})
		id := b.server.AddUnfinishedFile(b.ds, "model.zip")
		go func() {
			for b.server.Requests("GET", "/files") == 0 {
				<-time.After(time.Millisecond)
			}
			_ = b.server.FinishFile(id, []byte("zip"))
		}()
		files, err := b.s.Files(t.Context(), b.ds)
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.Equal(t, id, files[0].ID)
		require.False(t, files[0].InFlight)
		require.EqualValues(t, 3, files[0].Size)
	})
	t.Run("that never end are left out of a dataset", func(t *testing.T) {
		t.Parallel()
		b := setup(t, clowder.Config{InFlightWait: time.Millisecond})
		b.add(t, "a.csv", "x")
		b.server.AddUnfinishedFile(b.ds, "model.zip")
		files, err := b.s.Files(t.Context(), b.ds)
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.Equal(t, "a.csv", files[0].Name)
	})
}

func TestUploadTellsLengthAndType(t *testing.T) {
	t.Parallel()
	var length int64
	var chunked []string
	var part string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		length, chunked = r.ContentLength, r.TransferEncoding
		body, _ := io.ReadAll(r.Body)
		part = string(body)
		_, _ = io.WriteString(w, `{"id":"000000000000000000000001","bytes":3,"version_num":1}`)
	}))
	t.Cleanup(server.Close)
	s := clienttest.New(t, clowder.Config{URL: server.URL}).As("KEY")
	_, err := s.Upload(t.Context(), missingID, "", text("loss.png", "image/png", "png"))
	require.NoError(t, err)
	require.Equal(t, int64(len(part)), length)
	require.Empty(t, chunked)
	require.Contains(t, part, "name=\"file\"; filename=\"loss.png\"\r\nContent-Type: image/png\r\n\r\npng\r\n--")
	_, err = s.Upload(t.Context(), missingID, "", text("loss.png", "image/png", "four"))
	clienttest.RequireKind(t, err, job.KindUnknown, 0)
	require.ErrorContains(t, err, "stored 3 of the 4 bytes")
}

func TestUploadOfAFileThatShrinksLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, clowder.Config{})
	body := text("a.txt", "", "abc")
	body.Size = 10 << 20
	_, err := b.s.Upload(t.Context(), b.ds, "", body)
	clienttest.RequireKind(t, err, job.KindRetryable, 0)
	require.ErrorContains(t, err, "became shorter")
	body.Open = func() (io.ReadCloser, error) { return nil, errors.New("it is gone") }
	_, err = b.s.Upload(t.Context(), b.ds, "", body)
	clienttest.RequireKind(t, err, job.KindRetryable, 0)
	files, err := b.s.Files(t.Context(), b.ds)
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestKeyShowsNowhere adds faults to all calls and searches the errors and the log for the key.
func TestKeyShowsNowhere(t *testing.T) {
	t.Parallel()
	core, logged := observer.New(zap.DebugLevel)
	b := setup(t, clowder.Config{Attempts: 1, CallTimeout: 50 * time.Millisecond, IdleTimeout: 50 * time.Millisecond, AnswerTimeout: 50 * time.Millisecond, Logger: zap.New(core)})
	file := b.add(t, "a.csv", "x")
	key := b.server.Key("alice@example.org")
	for _, fault := range []clowdertest.Fault{{Status: 401}, {Status: 500}, {Hang: true}, {Cut: -1}, {Status: 200, Body: key}} {
		b.server.ClearFaults()
		b.server.Fail(fault)
		ctx := t.Context()
		var errs []error
		collect := func(_ any, err error) { errs = append(errs, err) }
		collect(b.s.Dataset(ctx, b.ds))
		collect(b.s.Files(ctx, b.ds))
		collect(b.s.Stage(ctx, []clowder.File{file}, disk.Folder{Volume: t.TempDir()}, nil))
		collect(b.s.Upload(ctx, b.ds, "", text("a", "", "b")))
		collect(b.s.AddFolder(ctx, b.ds, "", "f"))
		collect(b.s.AddMetadata(ctx, b.ds, clowder.Metadata{}))
		collect(b.s.AddVisualization(ctx, b.ds, clowder.Visualization{}, text("a", "", "b")))
		collect(b.s.Submit(ctx, b.ds, "x", nil))
		collect(b.s.CheckKey(ctx))
		for _, err := range errs {
			require.Error(t, err, fault)
			require.NotContains(t, err.Error(), key)
			require.NotContains(t, err.Error(), "X-Amz")
		}
	}
	for _, entry := range logged.All() {
		require.NotContains(t, entry.Message, key)
		require.NotContains(t, entry.ContextMap(), key)
	}
}

// TestListingSurvivesRowsThatMove serves a dataset in which a file vanishes between two pages.
func TestListingSurvivesRowsThatMove(t *testing.T) {
	t.Parallel()
	b := setup(t, clowder.Config{})
	var first string
	for i := range 150 {
		id := b.add(t, strings.Repeat("x", i+1)+".csv", "x").ID
		if i == 149 {
			first = id // the newest one is on the first page
		}
	}
	proxied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("skip") == "100" && first != "" {
			gone := httptest.NewRequest(http.MethodDelete, "/api/v2/files/"+first, nil)
			gone.Header.Set("X-API-KEY", b.server.Key("alice@example.org"))
			b.server.ServeHTTP(httptest.NewRecorder(), gone)
			first = ""
		}
		b.server.ServeHTTP(w, r)
	}))
	t.Cleanup(proxied.Close)
	s := clienttest.New(t, clowder.Config{URL: proxied.URL}).As(job.Secret(b.server.Key("alice@example.org")))
	files, err := s.Files(t.Context(), b.ds)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 149)
}
