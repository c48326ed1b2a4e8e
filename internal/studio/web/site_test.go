package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
)

type built struct{ http.Handler }

func (built) Names(island string) (script, style string) { return island + "-1.js", "" }

func newSite(t *testing.T) *Site {
	t.Helper()
	address, err := url.Parse("https://example.org/ray")
	require.NoError(t, err)
	return NewSite(address, "https://clowder.example.org/", built{http.NotFoundHandler()}, zap.NewNop())
}

func request(t *testing.T, path string, v *Visitor) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	return r.WithContext(WithVisitor(r.Context(), v))
}

func TestLinksStayBelowTheAddressOfTheStudio(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.Equal(t, "/ray/runs/a%2Fb", s.Link("runs", "a/b"))
	require.Equal(t, "/ray/", s.Link())
	require.Equal(t, "https://example.org/ray/runs/ft-1", s.Absolute("runs", "ft-1"))
}

func TestAPageHasTheLayoutAndEscapesWhatUsersWrote(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.Parse(fstest.MapFS{"a.tmpl.html": {Data: []byte(`{{define "content"}}<h1>{{.}}</h1>{{end}}`)}}, "a.tmpl.html")
	w := httptest.NewRecorder()
	Secure(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page.Show(w, r, http.StatusOK, View{
			Title: "A <b>", Dataset: &Dataset{ID: "1", Name: "Reviews & more"}, Nav: "runs", Islands: []string{"live"}, Data: "<script>alert(1)</script>",
		})
	})).ServeHTTP(w, request(t, "/", &Visitor{Name: "Alice"}))
	body := w.Body.String()
	require.Contains(t, body, "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>")
	require.Contains(t, body, "<title>A &lt;b&gt; · studio</title>")
	require.Contains(t, body, `<a href="/ray/datasets/1/runs">Reviews &amp; more</a>`)
	require.Contains(t, body, `<a href="/ray/datasets/1/runs" aria-current="page">Runs</a>`)
	require.Contains(t, body, `<script type="module" src="/ray/assets/live-1.js"></script>`)
	require.Contains(t, body, "Alice")
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "script-src 'self'; ")
}

func TestTheIconIsFoundUnderItsNameAndWhereBrowsersLook(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mux := http.NewServeMux()
	s.Routes(mux)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, request(t, "/favicon.ico", nil))
	require.Equal(t, http.StatusSeeOther, w.Code)
	at := w.Header().Get("Location")
	require.Regexp(t, `^/ray/assets/icon-[0-9a-f]{12}\.svg$`, at)
	w = httptest.NewRecorder()
	mux.ServeHTTP(w, request(t, at[len("/ray"):], nil))
	require.Equal(t, []any{http.StatusOK, "image/svg+xml"}, []any{w.Code, w.Header().Get("Content-Type")})
	require.Contains(t, w.Header().Get("Cache-Control"), "immutable")
}

func TestAPageThatCannotBeDrawnIsNotSentInHalf(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.parse(`{{define "content"}}<h1>half</h1>{{.Missing.Field}}{{end}}`)
	w := httptest.NewRecorder()
	page.Show(w, request(t, "/", nil), http.StatusOK, View{Data: struct{}{}})
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.NotContains(t, w.Body.String(), "half")
}

func TestEachErrorBecomesASentenceForTheVisitor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		status int
		kind   string
	}{
		"a problem":                        {fmt.Errorf("wrapped: %w", NotFound), 404, "not-found"},
		"a run that is not there":          {fmt.Errorf("read: %w", job.ErrNotFound), 404, "not-found"},
		"a refusal":                        {job.Permanent(errors.New("the job has already ended")), 409, "refused"},
		"Clowder forbids":                  {clowder.NewAnswerError(403, "no"), 403, "forbidden"},
		"Clowder knows the login no more":  {clowder.NewAnswerError(401, "no"), 401, "login"},
		"Clowder breaks":                   {clowder.NewAnswerError(500, "no"), 502, "clowder"},
		"Clowder is away":                  {&net.OpError{Op: "dial", Err: errors.New("refused")}, 502, "clowder"},
		"our own mistake keeps its secret": {errors.New("open /secret/path"), 500, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := AsProblem(c.err)
			require.Equal(t, c.status, p.Status)
			require.Equal(t, c.kind, p.Type)
			require.NotContains(t, p.Error(), "/secret")
			require.NotEmpty(t, p.Title)
		})
	}
}

func TestAnErrorIsAPageOrAProblem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := httptest.NewRecorder()
	s.Fail(w, request(t, "/runs/x", nil), NotFound)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), template.HTMLEscapeString(NotFound.Detail))

	w = httptest.NewRecorder()
	s.Fail(w, request(t, "/api/v1/runs/x", nil), NotFound)
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	require.JSONEq(t, `{"type":"not-found","title":"Not found","status":404,"detail":"There is no such page, or you may not see it.",
		"do":"Check the address. If somebody sent it to you, ask them to share the dataset with you in Clowder."}`, w.Body.String())
}

type fixed struct {
	role clowder.Role
	err  error
}

func (f fixed) Role(context.Context, *Visitor, string) (clowder.Role, error) { return f.role, f.err }

func TestARoleIsCheckedAndForbiddenLooksLikeUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rights fixed
		needed clowder.Role
		status int
	}{
		"an editor may do what an uploader may":  {fixed{role: clowder.RoleEditor}, clowder.RoleUploader, 0},
		"a viewer may look":                      {fixed{role: clowder.RoleViewer}, clowder.RoleViewer, 0},
		"a viewer may not upload":                {fixed{role: clowder.RoleViewer}, clowder.RoleUploader, 403},
		"nobody sees that the dataset is there":  {fixed{}, clowder.RoleViewer, 404},
		"an unknown role allows nothing":         {fixed{role: "guest"}, clowder.RoleViewer, 403},
		"an error of Clowder is not a right":     {fixed{clowder.RoleOwner, clowder.NewAnswerError(500, "x")}, clowder.RoleViewer, 502},
		"an owner may do what only an owner may": {fixed{role: clowder.RoleOwner}, clowder.RoleOwner, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := CheckRole(t.Context(), c.rights, "d", c.needed)
			if c.status == 0 {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Equal(t, c.status, AsProblem(err).Status)
		})
	}
}
