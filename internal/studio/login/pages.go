package login

import (
	"embed"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/oauth2"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

//go:embed login.tmpl.html
var templates embed.FS

// pages are the pages of the login.
type pages struct{ login *web.Page }

func newPages(site *web.Site) pages { return pages{site.Parse(templates, "login.tmpl.html")} }

// loginView is what the page shows.
type loginView struct {
	Problem           *web.Problem
	Out               bool // the visitor has just logged out
	OIDC, Key, Cookie bool
	// End is where the visitor ends their login at Keycloak themselves.
	End string
	// Back is the page to which the login leads.
	Back string
}

// Public adds the pages that need no login.
func (a *Authenticator) Public(mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		a.show(w, r, http.StatusOK, loginView{Back: r.URL.Query().Get("back")})
	})
	mux.HandleFunc("POST /login/key", a.withKey)
	mux.HandleFunc("POST /logout", a.logout)
	// A browser keeps whole pages for the way back, although they are not to be stored. The page after a logout contains this as a picture, so it
	// is requested when the page before has been kept.
	mux.HandleFunc("GET /logout/clear", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Clear-Site-Data", `"cache"`)
		w.WriteHeader(http.StatusNoContent)
	})
	if a.offers(ByOIDC) {
		mux.HandleFunc("GET /login/oidc", a.startOIDC)
		mux.HandleFunc("GET /login/callback", a.finishOIDC)
	}
}

// show answers with the login page, and with the problem of a login that failed.
func (a *Authenticator) show(w http.ResponseWriter, r *http.Request, status int, view loginView) {
	view.OIDC, view.Key, view.Cookie = a.offers(ByOIDC), a.offers(ByKey), a.offers(ByCookie)
	view.Back = safeBack(view.Back)
	title := "Log in"
	if view.Out {
		title = "Logged out"
	}
	a.pages.login.Show(w, r, status, web.View{Title: title, Data: view})
}

// maxBack is the length in bytes of the longest way back.
const maxBack = 1500

// safeBack is the page of the studio to which a login leads: a path of its own. Every other text leads to the first page.
func safeBack(back string) string {
	u, err := url.Parse(back)
	switch {
	case err != nil, len(back) > maxBack, !strings.HasPrefix(back, "/"), strings.HasPrefix(back, "//"), strings.ContainsAny(back, "\\\r\n\t"),
		u.IsAbs(), u.Host != "", u.User != nil:
		return "/"
	}
	for _, own := range []string{"/login", "/logout", "/api/", "/v2/", "/assets/"} {
		if strings.HasPrefix(u.Path, own) {
			return "/"
		}
	}
	return back
}

func backQuery(back string) string { return url.Values{"back": {safeBack(back)}}.Encode() }

// lead sends the visitor to a page of the studio.
func (a *Authenticator) lead(w http.ResponseWriter, r *http.Request, back string) {
	http.Redirect(w, r, strings.TrimSuffix(a.site.Link(), "/")+safeBack(back), http.StatusSeeOther) //nolint:gosec // safeBack gives paths of the studio only
}

// maxForm limits the body of a form of the login.
const maxForm = 16 << 10

func (a *Authenticator) withKey(w http.ResponseWriter, r *http.Request) {
	if !a.offers(ByKey) {
		a.site.Fail(w, r, web.NotFound)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	key, back := strings.TrimSpace(r.PostFormValue("key")), r.PostFormValue("back")
	fail := func(p *web.Problem) { a.show(w, r, p.Status, loginView{Back: back, Problem: p}) }
	if !plain(key) || len(key) > maxSealed/3 {
		fail(wrongKey())
		return
	}
	err := a.beginKey(r.Context(), w, key)
	if err != nil {
		a.log.Info("a login with a key failed", zap.Int("status", clowder.StatusOf(err)))
		fail(failure(err, wrongKey()))
		return
	}
	a.log.Info("a visitor logged in", zap.String("with", string(ByKey)))
	a.lead(w, r, back)
}

// logout ends the login of the browser, here and at Keycloak.
func (a *Authenticator) logout(w http.ResponseWriter, r *http.Request) {
	view := loginView{Out: true}
	if secret := a.cookies.get(r, sessionCookie); secret != "" {
		a.cookies.remove(w, sessionCookie)
		name := nameOf(secret)
		a.users.forget(name)
		if one := a.sessions.remove(name); one != nil && !a.provider.end(r.Context(), one.lastToken()) {
			view.End = a.provider.endPage(r.Context())
		}
	}
	if text := a.cookies.get(r, keyCookie); text != "" {
		a.cookies.remove(w, keyCookie)
		var login keyLogin
		if a.sealer.open(keyCookie, text, &login) {
			a.left.Add(login.ID, true)
			a.users.forget(nameOf(login.ID))
		}
	}
	a.show(w, r, http.StatusOK, view)
}

// lastToken is the newest token of a login that has ended here.
func (s *session) lastToken() *oauth2.Token {
	s.renewing.Lock()
	defer s.renewing.Unlock()
	return s.token
}

// wrongKey is the problem of a key that Clowder does not accept.
func wrongKey() *web.Problem {
	return &web.Problem{
		Type: "wrong-key", Title: "Clowder does not accept this key", Status: http.StatusForbidden,
		Detail: "Clowder does not accept this key. It may be cut off, or it has expired.", Do: "Make a new key on the page API Keys of Clowder, and paste the whole of it.",
	}
}

// failure is the problem of somebody who does not come in; wrong is the one of a refused credential.
func failure(err error, wrong *web.Problem) *web.Problem {
	p, known := errors.AsType[*web.Problem](err)
	switch {
	case known:
		return p
	case errors.Is(err, clowder.ErrUnknownUser):
		return &web.Problem{
			Type: "unknown-user", Title: "Clowder does not know you yet", Status: http.StatusForbidden,
			Detail: "Your account is new: Clowder adds you when you open it for the first time.", Do: "Open Clowder once, then come back.",
		}
	case errors.Is(err, clowder.ErrNobody):
		return &web.Problem{
			Type: "wrong-key", Title: "This is not the key of a person", Status: http.StatusForbidden,
			Detail: "This key belongs to the Clowder installation.", Do: "Use an API key of your own: the studio acts in your name.",
		}
	case unauthorized(err), errors.Is(err, errRefused):
		return wrong
	case errors.Is(err, errAway):
		return &web.Problem{
			Type: "login-service", Title: "The login service does not answer", Status: http.StatusServiceUnavailable,
			Detail: "The login service of Clowder does not answer.", Do: "Try again in a minute.", RetryAfter: retryAfter,
		}
	case refusal(err):
		return web.AsProblem(err)
	default:
		return &web.Problem{
			Type: "clowder", Title: "Clowder does not answer", Status: http.StatusServiceUnavailable,
			Detail: "The studio asks Clowder who you are and what you may see, and got no answer. Trainings go on meanwhile.", Do: "Try again in a minute.",
			RetryAfter: retryAfter,
		}
	}
}

// retryAfter is when to try again what Clowder or Keycloak did not answer.
const retryAfter = 30 * time.Second

// attempts returns the names of the cookies of logins at Keycloak that have begun.
func (a *Authenticator) attempts(r *http.Request) []string {
	return slices.Sorted(slices.Values(a.cookies.named(r, attemptCookie)))
}
