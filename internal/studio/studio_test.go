package studio

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

type noAssets struct{ http.Handler }

func (noAssets) Names(string) (script, style string) { return "", "" }

// loggedIn lets each request in as Alice.
type loggedIn struct{}

func (loggedIn) Public(mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("log in")) })
}

func (loggedIn) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(web.WithVisitor(r.Context(), &web.Visitor{Name: "Alice"})))
	})
}

// fakeSection greets its visitor and counts changes.
type fakeSection struct{ changes *int }

type greeting struct{ Body struct{ Name string } }

func (r fakeSection) Routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /change", func(w http.ResponseWriter, _ *http.Request) {
		*r.changes++
		w.WriteHeader(http.StatusSeeOther)
	})
}

func (r fakeSection) Operations(api huma.API) {
	huma.Get(api, "/api/v1/me", func(ctx context.Context, _ *struct{}) (*greeting, error) {
		var g greeting
		g.Body.Name = web.VisitorOf(ctx).Name
		return &g, nil
	})
	huma.Get(api, "/api/v1/gone", func(context.Context, *struct{}) (*struct{}, error) { return nil, web.NotFound })
}

func handler(t *testing.T, changes *int) http.Handler {
	t.Helper()
	address, err := url.Parse("https://example.com/ray")
	require.NoError(t, err)
	site := web.NewSite(address, "https://clowder.example.org", noAssets{http.NotFoundHandler()}, zap.NewNop())
	h, err := Handler(site, loggedIn{}, fakeSection{changes})
	require.NoError(t, err)
	return h
}

func TestTheSiteServesItsRoomsBelowItsPath(t *testing.T) {
	t.Parallel()
	changes := 0
	h := handler(t, &changes)
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"/ray/login":               {200, "log in"},
		"/ray/api/v1/me":           {200, `{"Name":"Alice"}`},
		"/ray/api/v1/gone":         {404, `"type":"not-found"`},
		"/ray/api/v1/nothing":      {404, `"type":"not-found"`},
		"/ray/nothing":             {404, "you may not see it"},
		"/login":                   {404, ""},
		"/ray/api/v1/openapi.json": {200, `"openapi":"3.1.0"`},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		require.Equal(t, want.status, w.Code, path)
		require.Contains(t, w.Body.String(), want.body, path)
	}
}

func TestAChangeComesFromPagesOfTheStudioOnly(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]int{"same-origin": 303, "same-site": 403, "cross-site": 403} {
		changes := 0
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/ray/change", strings.NewReader("x=1"))
		r.Header.Set("Sec-Fetch-Site", from)
		handler(t, &changes).ServeHTTP(w, r)
		require.Equal(t, want, w.Code, from)
		require.Equal(t, want == 403, strings.Contains(w.Body.String(), "The studio takes changes from its own pages only."))
		require.Equal(t, want == 303, changes == 1, from)
	}
}
