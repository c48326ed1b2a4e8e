package hub_test

import (
	"bytes"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/hub"
	"github.com/ncsa/clowder-ray/internal/job"
)

// fileHost serves handler over TLS, and returns a configuration that trusts it.
func fileHost(t *testing.T, handler http.HandlerFunc) (address string, cfg hub.Config) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server.URL + "/secret/model.zip?signature=secret", hub.Config{Roots: roots, Backoff: time.Millisecond, IdleTimeout: 5 * time.Second, Token: "secret"}
}

func TestAFileIsFetched(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcdef"), 40_000)
	for name, handler := range map[string]func(calls int32, w http.ResponseWriter, r *http.Request){
		"at once": func(_ int32, w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		},
		"over several connections that break off": func(calls int32, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"one"`)
			if calls < 3 {
				w = &cutWriter{ResponseWriter: w, left: 100_000}
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		},
		"from a server that knows no ranges": func(calls int32, w http.ResponseWriter, _ *http.Request) {
			if calls == 1 {
				w = &cutWriter{ResponseWriter: w, left: 100_000}
			}
			w.Header().Set("Content-Length", "640000")
			_, _ = w.Write(content)
		},
		"after a failure": func(calls int32, w http.ResponseWriter, r *http.Request) {
			if calls == 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		},
		"through a redirect": func(calls int32, w http.ResponseWriter, r *http.Request) {
			if calls == 1 {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			address, cfg := fileHost(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				handler(calls.Add(1), w, r)
			})
			var got bytes.Buffer
			n, err := hub.Fetch(t.Context(), cfg, address, int64(len(content)), &got)
			require.NoError(t, err)
			require.EqualValues(t, len(content), n)
			require.True(t, bytes.Equal(content, got.Bytes()))
		})
	}
}

// cutWriter breaks the connection off after some bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		_, _ = w.ResponseWriter.Write(p[:w.left])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	w.left -= len(p)
	return w.ResponseWriter.Write(p)
}

func TestWhatIsNotFetched(t *testing.T) {
	t.Parallel()
	for want, handler := range map[string]http.HandlerFunc{
		"does not give the ZIP file (HTTP 404). Check the address.": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"has more than 1000 B": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1001)) },
		"the file is too large": func(w http.ResponseWriter, _ *http.Request) {
			for range 100 { // without a length
				_, _ = w.Write(make([]byte, 100))
				_ = http.NewResponseController(w).Flush()
			}
		},
		"without encryption": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/model.zip", http.StatusFound)
		},
		"changed while it was loaded": func() http.HandlerFunc {
			var calls atomic.Int32
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("ETag", map[bool]string{true: `"one"`, false: `"two"`}[calls.Add(1) == 1])
				w.Header().Set("Content-Length", "900")
				(&cutWriter{ResponseWriter: w, left: 300}).Write(make([]byte, 300)) //nolint:errcheck // the head and a part
				(&cutWriter{ResponseWriter: w}).Write([]byte("x"))                  //nolint:errcheck // ends the connection
			}
		}(),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			address, cfg := fileHost(t, handler)
			_, err := hub.Fetch(t.Context(), cfg, address, 1000, &bytes.Buffer{})
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "secret")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
	for _, address := range []string{"http://example.org/model.zip", "https://user:secret@example.org/model.zip", "https:///model.zip", "ftp://x/y.zip"} {
		_, err := hub.Fetch(t.Context(), hub.Config{}, address, 1000, &bytes.Buffer{})
		require.ErrorContains(t, err, "must look like https://host/path/file.zip")
		require.NotContains(t, err.Error(), "secret")
	}
}
