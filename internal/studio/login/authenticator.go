package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Method is one way to log in.
type Method string

// The ways: at Keycloak, with an API key, and with the cookie of Clowder's own page.
const (
	ByOIDC   Method = "oidc"
	ByKey    Method = "key"
	ByCookie Method = "cookie"
)

// Config is how visitors log in.
type Config struct {
	// Methods are those that the operator offers.
	Methods []Method
	Issuer  Issuer
	// Keys of 32 bytes seal cookies: the first one seals, all open. Without any, a restart ends the logins with an API key.
	Keys [][]byte
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Authenticator lets visitors in. It is safe for concurrent use.
type Authenticator struct {
	site     *web.Site
	methods  []Method
	cookies  cookies
	sealer   sealer
	provider *provider // nil: no login at Keycloak
	sessions *sessions
	users    *userCache
	left     *lru.Cache[string, bool] // ids of logins with a key that their owner ended
	changes  *web.Quota
	pages    pages
	now      func() time.Time
	log      *zap.Logger
}

// changesPerMinute limits the changes of one person.
const changesPerMinute = 30

// maxLeft is how many ended logins are remembered until their cookie is worthless.
const maxLeft = 100_000

// New returns the login of a site with the users of a Clowder.
func New(site *web.Site, clowder Clowder, cfg Config) (*Authenticator, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	seal, err := newSealer(cfg.Keys)
	if err != nil {
		return nil, err
	}
	known, err := newUserCache(clowder, cfg.Now)
	if err != nil {
		return nil, err
	}
	left, err := lru.New[string, bool](maxLeft)
	if err != nil {
		return nil, err
	}
	d := &Authenticator{
		site: site, methods: cfg.Methods, cookies: newCookies(site.URL), sealer: seal, users: known, left: left,
		changes: web.NewQuota(changesPerMinute, "changes"), pages: newPages(site), now: cfg.Now, log: site.Log.Named("login"),
	}
	if d.offers(ByOIDC) {
		d.provider = newProvider(cfg.Issuer, site.Absolute("login", "callback"))
	}
	d.sessions = newSessions(d.provider, cfg.Now)
	site.Outage = d.users.outage.start
	return d, nil
}

func (a *Authenticator) offers(way Method) bool { return slices.Contains(a.methods, way) }

// errNobody is the error about a request without any credential.
var errNobody = errors.New("nobody is logged in")

// Wrap passes on the requests of visitors. Pages of others lead to the login; other requests are refused with 401.
func (a *Authenticator) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := a.visitor(w, r)
		switch {
		case err == nil:
		case unauthorized(err) || errors.Is(err, errNobody):
			a.refuse(w, r, errors.Is(err, errNobody))
			return
		default:
			a.site.Fail(w, r, failure(err, ended()))
			return
		}
		if changes(r) {
			if err := a.changes.Take(v.Email, a.now()); err != nil {
				a.site.Fail(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(web.WithVisitor(r.Context(), v)))
	})
}

// changes reports whether a request counts as a change. Questions to a model and labels have a limit of their own. A check changes nothing, and neither does
// TensorBoard.
func changes(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	if strings.HasPrefix(r.URL.Path, "/tensorboard/") {
		return false
	}
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	return !slices.Contains([]string{"infer", "predict", "try", "check", "label"}, last)
}

// refuse answers a request of nobody: pages lead to the login and back. A form cannot be sent again after a login, so its answer says so.
func (a *Authenticator) refuse(w http.ResponseWriter, r *http.Request, nobody bool) {
	if isAPI(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="studio"`)
		a.site.Fail(w, r, ended())
		return
	}
	if r.Method == http.MethodGet && slices.Contains([]string{"", "document"}, r.Header.Get("Sec-Fetch-Dest")) {
		to := a.site.Link("login")
		if a.offers(ByOIDC) {
			to = a.site.Link("login", "oidc")
		}
		http.Redirect(w, r, to+"?"+backQuery(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	if nobody {
		a.site.Fail(w, r, &web.Problem{
			Type: "login", Title: "You are not logged in", Status: http.StatusUnauthorized, Detail: "Nothing was changed.",
			Do: "Go back, copy what you typed, log in, and send it again.",
		})
		return
	}
	a.site.Fail(w, r, ended())
}

// ended is the problem of a login that has ended.
func ended() *web.Problem {
	return &web.Problem{
		Type: "login", Title: "You are not logged in", Status: http.StatusUnauthorized, Detail: "Your login has ended, or there was none.",
		Do: "Log in again. With a script, send an API key of Clowder as X-API-KEY, or an access token as Authorization: Bearer.",
	}
}

func isAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/v2/")
}

// visitor finds out who makes a request. It sets a cookie where that has to be renewed.
func (a *Authenticator) visitor(w http.ResponseWriter, r *http.Request) (*web.Visitor, error) {
	if isAPI(r) {
		if c, found := fromHeaders(r); found {
			return a.plainVisitor(r.Context(), c)
		}
	}
	if secret := a.cookies.get(r, sessionCookie); secret != "" && a.provider != nil {
		v, err := a.sessionVisitor(r, secret)
		if !errors.Is(err, errEnded) {
			return v, err
		}
	}
	if text := a.cookies.get(r, keyCookie); text != "" && a.offers(ByKey) {
		v, err := a.keyVisitor(w, r, text)
		if !unauthorized(err) {
			return v, err
		}
	}
	if a.offers(ByCookie) {
		if token := clowderToken(r); token != "" {
			return a.plainVisitor(r.Context(), Credential{Secret: job.Secret(token), Token: true})
		}
	}
	return nil, errNobody
}

// fromHeaders returns the credential of a script. Clowder looks at a token first, and so does the studio.
func fromHeaders(r *http.Request) (Credential, bool) {
	if scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " "); found && strings.EqualFold(scheme, "Bearer") {
		return Credential{Secret: job.Secret(token), Token: true}, true
	}
	key := r.Header.Get("X-API-KEY")
	return Credential{Secret: job.Secret(key)}, key != ""
}

// plainVisitor is the visitor with a credential that comes with each request.
func (a *Authenticator) plainVisitor(ctx context.Context, c Credential) (*web.Visitor, error) {
	if !plain(c.Secret.Reveal()) {
		return nil, errEnded
	}
	return a.users.visitor(ctx, nameOf(fmt.Sprintf("%t %s", c.Token, c.Secret.Reveal())), func(context.Context) (Credential, error) { return c, nil })
}

// sessionVisitor is the visitor who logged in at Keycloak.
func (a *Authenticator) sessionVisitor(r *http.Request, secret string) (*web.Visitor, error) {
	one, err := a.sessions.find(nameOf(secret), byPerson(r))
	if err != nil {
		return nil, err
	}
	return a.users.visitor(r.Context(), one.name, func(ctx context.Context) (Credential, error) {
		if _, err := a.sessions.find(one.name, false); err != nil {
			return Credential{}, err
		}
		return a.sessions.credential(ctx, one)
	})
}

// byPerson reports whether a person caused a request, and not a script of an open page that asks for news.
func byPerson(r *http.Request) bool {
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Dest") != "empty"
}
