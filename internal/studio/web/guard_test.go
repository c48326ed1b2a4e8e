package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARequestForAnotherHostIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for host, want := range map[string]int{
		"example.org": 200, "EXAMPLE.org": 200, "example.org:443": 200, "10.0.0.7:8781": 200, "[::1]:8781": 200, "localhost:8781": 200, "studio:8781": 200,
		"clowder-ray.training.svc:8781": 200, "clowder-ray.training.svc.cluster.local": 200,
		"evil.example.com": 421, "example.org.evil.com": 421, "evil.com:8781": 421, "127.0.0.1.evil.com": 421, "a.svc.evil.com": 421, "": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/ray/", http.NoBody)
		r.Host = host
		w := httptest.NewRecorder()
		Guard(s.URL, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		require.Equal(t, want, w.Code, host)
		require.NotContains(t, w.Body.String(), "evil", host)
	}
}

func TestABodyHasALimit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, limit := range map[string]int{"/ray/datasets/1/files/2": maxBody, "/ray/api/v1/models/1/a/predict": maxQuestion, "/ray/v2/models/a/infer": maxQuestion} {
		for _, more := range []int{0, 1} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(strings.Repeat("x", limit+more)))
			r.Host = "example.org"
			var err error
			Guard(s.URL, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, err = io.Copy(io.Discard, r.Body) })).ServeHTTP(httptest.NewRecorder(), r)
			_, tooLarge := errors.AsType[*http.MaxBytesError](err)
			require.Equal(t, more == 1, tooLarge, path)
		}
	}
}

func TestABodyThatIsTooLargeIsAProblem(t *testing.T) {
	t.Parallel()
	require.Equal(t, http.StatusRequestEntityTooLarge, AsProblem(&http.MaxBytesError{Limit: 2 << 20}).Status)
}
