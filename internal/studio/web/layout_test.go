package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

var nonces = regexp.MustCompile(`'nonce-([A-Z2-7]+)'`)

// visit shows a page of the site behind the headers of all pages.
func visit(t *testing.T, s *Site, v *Visitor, view View) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	Secure(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.parse(`{{define "content"}}{{end}}`).Show(w, r, http.StatusOK, view)
	})).ServeHTTP(w, request(t, "/", v))
	return w
}

func TestThePolicyOfAPageNamesItsOwnNonceOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	seen := map[string]bool{}
	for range 3 {
		w := visit(t, s, nil, View{})
		found := nonces.FindStringSubmatch(w.Header().Get("Content-Security-Policy"))
		require.NotNil(t, found)
		require.Contains(t, w.Body.String(), `<meta name="csp-nonce" content="`+found[1]+`">`, "the scripts of the page find it")
		require.False(t, seen[found[1]], "a nonce that comes again is none")
		seen[found[1]] = true
	}
}

func TestAHandlerMayReplaceThePolicyForItsOwnAnswer(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Secure(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "sandbox")
	})).ServeHTTP(w, request(t, "/", nil))
	require.Equal(t, []string{"sandbox"}, w.Header().Values("Content-Security-Policy"))
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
}

// styled is a build with a style for one of two islands.
type styled struct{ http.Handler }

func (styled) Names(island string) (script, style string) {
	if island == "live" {
		return "live-1.js", "live-2.css"
	}
	return "", ""
}

func TestAnIslandThatWasNotBuiltLeavesThePageWhole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s = NewSite(s.URL, s.Clowder, styled{http.NotFoundHandler()}, zap.NewNop())
	page := visit(t, s, nil, View{Islands: []string{"editor", "live"}}).Body.String()
	require.Equal(t, 1, strings.Count(page, "<script"))
	require.Contains(t, page, `<link rel="stylesheet" href="/ray/assets/live-2.css">`)
	require.NotContains(t, page, `assets/"`, "an empty name is no address")
}

func TestEachPageSaysSinceWhenClowderIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.NotContains(t, visit(t, s, nil, View{}).Body.String(), "Clowder does not answer since")
	s.Outage = func() time.Time { return time.Date(2026, 11, 23, 18, 5, 0, 0, time.FixedZone("CST", -6*3600)) }
	page := visit(t, s, nil, View{}).Body.String()
	require.Contains(t, page, `Clowder does not answer since <time datetime="2026-11-24T00:05:00Z">2026-11-24 00:05 UTC</time>`)
}

func TestAStudioAtTheRootOfItsHostHasNoEmptySegment(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"", "/"} {
		at := *s.URL
		at.Path = path
		root := NewSite(&at, "", built{http.NotFoundHandler()}, zap.NewNop())
		require.Equal(t, "/", root.Link(), path)
		require.Equal(t, "https://example.org/runs/ft-1", root.Absolute("runs", "ft-1"), path)
	}
}

func TestTheLogKeepsTheCauseThatNoVisitorSees(t *testing.T) {
	t.Parallel()
	core, seen := observer.New(zapcore.DebugLevel)
	s := newSite(t)
	s.Log = zap.New(core)
	for _, path := range []string{"/runs/x", "/api/v1/runs/x", "/v2/models/x"} {
		w := httptest.NewRecorder()
		s.Fail(w, request(t, path, nil), errors.New("open /secret/path"))
		require.Equal(t, http.StatusInternalServerError, w.Code, path)
		require.NotContains(t, w.Body.String(), "/secret", path)
		require.Equal(t, path != "/runs/x", w.Header().Get("Content-Type") == problemType, path)
	}
	require.Equal(t, 3, seen.FilterField(zap.Error(errors.New("open /secret/path"))).Len())
	w := httptest.NewRecorder()
	s.Fail(w, request(t, "/runs/x", nil), clowder.NewAnswerError(http.StatusForbidden, "no"))
	require.Equal(t, 3, seen.Len(), "what a visitor may not do is no fault of the service")

	broken := s.Parse(fstest.MapFS{"a": {Data: []byte(`{{define "content"}}{{.Missing.Field}}{{end}}`)}}, "a")
	broken.Show(httptest.NewRecorder(), request(t, "/", nil), http.StatusOK, View{Title: "A title", Data: struct{}{}})
	require.Equal(t, 1, seen.FilterMessage("cannot draw a page").FilterField(zap.String("title", "A title")).Len())
}
