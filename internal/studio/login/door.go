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

// Way is one way to log in.
type Way string

// The ways: at Keycloak, with an API key, and with the cookie of Clowder's own page.
const (
	ByOIDC   Way = "oidc"
	ByKey    Way = "key"
	ByCookie Way = "cookie"
)

// Config is how visitors log in.
type Config struct {
	// Ways are those that the operator offers.
	Ways   []Way
	Issuer Issuer
	// Keys of 32 bytes seal cookies: the first one seals, all open. Without any, a restart ends the logins with an API key.
	Keys [][]byte
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Door lets visitors in. It is safe for concurrent use.
type Door struct {
	site     *web.Site
	ways     []Way
	cookies  cookies
	sealer   sealer
	provider *provider // nil: no login at Keycloak
	sessions *sessions
	people   *people
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

// New returns the door of a site to a Clowder.
func New(site *web.Site, clowder Clowder, cfg Config) (*Door, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	seal, err := newSealer(cfg.Keys)
	if err != nil {
		return nil, err
	}
	known, err := newPeople(clowder, cfg.Now)
	if err != nil {
		return nil, err
	}
	left, err := lru.New[string, bool](maxLeft)
	if err != nil {
		return nil, err
	}
	d := &Door{
		site: site, ways: cfg.Ways, cookies: newCookies(site.URL), sealer: seal, people: known, left: left,
		changes: web.NewQuota(changesPerMinute, "changes"), pages: newPages(site), now: cfg.Now, log: site.Log.Named("login"),
	}
	if d.offers(ByOIDC) {
		d.provider = newProvider(cfg.Issuer, site.Absolute("login", "callback"))
	}
	d.sessions = newSessions(d.provider, cfg.Now)
	site.Outage = d.people.outage.start
	return d, nil
}

func (d *Door) offers(way Way) bool { return slices.Contains(d.ways, way) }

// errNobody is the error about a request without any credential.
var errNobody = errors.New("nobody is logged in")

// Wrap passes on the requests of visitors. Pages of others lead to the login; other requests are refused with 401.
func (d *Door) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := d.visitor(w, r)
		switch {
		case err == nil:
		case unauthorized(err) || errors.Is(err, errNobody):
			d.refuse(w, r, errors.Is(err, errNobody))
			return
		default:
			d.site.Fail(w, r, failure(err, ended()))
			return
		}
		if changes(r) {
			if err := d.changes.Take(v.Email, d.now()); err != nil {
				d.site.Fail(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(web.WithVisitor(r.Context(), v)))
	})
}

// changes reports whether a request counts as a change. Questions to a model have a limit of their own. A check changes nothing, and neither does
// TensorBoard.
func changes(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	if strings.HasPrefix(r.URL.Path, "/tensorboard/") {
		return false
	}
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	return !slices.Contains([]string{"infer", "predict", "try", "check"}, last)
}

// refuse answers a request of nobody: pages lead to the login and back. A form cannot be sent again after a login, so its answer says so.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, nobody bool) {
	if isAPI(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="studio"`)
		d.site.Fail(w, r, ended())
		return
	}
	if r.Method == http.MethodGet && slices.Contains([]string{"", "document"}, r.Header.Get("Sec-Fetch-Dest")) {
		to := d.site.Link("login")
		if d.offers(ByOIDC) {
			to = d.site.Link("login", "oidc")
		}
		http.Redirect(w, r, to+"?"+backQuery(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	if nobody {
		d.site.Fail(w, r, &web.Problem{
			Type: "login", Title: "You are not logged in", Status: http.StatusUnauthorized, Detail: "Nothing was changed.",
			Do: "Go back, copy what you typed, log in, and send it again.",
		})
		return
	}
	d.site.Fail(w, r, ended())
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
func (d *Door) visitor(w http.ResponseWriter, r *http.Request) (*web.Visitor, error) {
	if isAPI(r) {
		if c, found := fromHeaders(r); found {
			return d.plainVisitor(r.Context(), c)
		}
	}
	if secret := d.cookies.get(r, sessionCookie); secret != "" && d.provider != nil {
		v, err := d.sessionVisitor(r, secret)
		if !errors.Is(err, errEnded) {
			return v, err
		}
	}
	if text := d.cookies.get(r, keyCookie); text != "" && d.offers(ByKey) {
		v, err := d.keyVisitor(w, r, text)
		if !unauthorized(err) {
			return v, err
		}
	}
	if d.offers(ByCookie) {
		if token := clowderToken(r); token != "" {
			return d.plainVisitor(r.Context(), Credential{Secret: job.Secret(token), Token: true})
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
func (d *Door) plainVisitor(ctx context.Context, c Credential) (*web.Visitor, error) {
	if !plain(c.Secret.Reveal()) {
		return nil, errEnded
	}
	return d.people.visitor(ctx, nameOf(fmt.Sprintf("%t %s", c.Token, c.Secret.Reveal())), func(context.Context) (Credential, error) { return c, nil })
}

// sessionVisitor is the visitor who logged in at Keycloak.
func (d *Door) sessionVisitor(r *http.Request, secret string) (*web.Visitor, error) {
	one, err := d.sessions.find(nameOf(secret), byPerson(r))
	if err != nil {
		return nil, err
	}
	return d.people.visitor(r.Context(), one.name, func(ctx context.Context) (Credential, error) {
		if _, err := d.sessions.find(one.name, false); err != nil {
			return Credential{}, err
		}
		return d.sessions.credential(ctx, one)
	})
}

// byPerson reports whether a person caused a request, and not a script of an open page that asks for news.
func byPerson(r *http.Request) bool {
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Dest") != "empty"
}
