package login

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/studio/login/logintest"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const (
	alice    = "alice@example.org"
	bob      = "bob@example.org"
	stranger = "erin@example.org"
)

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// place is a studio with its login, a Clowder and a Keycloak.
type place struct {
	url      string
	login    *Authenticator
	clowder  *clowdertest.Server
	client   *clowder.Client
	keycloak *logintest.Keycloak
	clock    *clock
	log      *observer.ObservedLogs
}

type setup struct {
	ways    []Method
	keys    [][]byte
	version int
	claims  func(map[string]any)
}

type noAssets struct{ http.Handler }

func (noAssets) Names(string) (script, style string) { return "", "" }

// build starts a studio below /ray.
func build(t *testing.T, with setup) *place {
	t.Helper()
	p := &place{clock: &clock{at: time.Now()}}
	var err error
	p.clowder, err = clowdertest.New(clowdertest.Options{Dir: t.TempDir(), Version: with.version})
	require.NoError(t, err)
	p.client, err = clowder.NewClient(clowder.Config{URL: p.clowder.URL, Version: with.version, Attempts: 1, Backoff: time.Millisecond})
	require.NoError(t, err)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	p.url = server.URL + "/ray"
	p.keycloak, err = logintest.Start(logintest.Options{
		Redirects: []string{p.url + "/login/callback"}, OnToken: p.clowder.AcceptToken, Claims: with.claims,
	})
	require.NoError(t, err)
	issuer := &http.Transport{}
	t.Cleanup(func() {
		server.Close()
		p.keycloak.Close()
		issuer.CloseIdleConnections()
		require.NoError(t, p.client.Close())
		require.NoError(t, p.clowder.Close())
	})
	address, err := url.Parse(p.url)
	require.NoError(t, err)
	core, seen := observer.New(zapcore.DebugLevel)
	p.log = seen
	site := web.NewSite(address, p.clowder.URL, noAssets{http.NotFoundHandler()}, zap.New(core))
	if with.ways == nil {
		with.ways = []Method{ByOIDC, ByKey}
	}
	p.login, err = New(site, At(p.client, versions.Of(with.version)), Config{
		Methods: with.ways, Keys: with.keys, Now: p.clock.now,
		Issuer: Issuer{URL: p.keycloak.URL, Client: logintest.Client, HTTP: &http.Client{Transport: issuer}},
	})
	require.NoError(t, err)
	inside := http.NewServeMux()
	p.login.Public(inside)
	inside.Handle("/", p.login.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := web.VisitorOf(r.Context())
		_, _ = fmt.Fprintf(w, "%s sees %s, save %t", v.Name, r.URL.RequestURI(), v.CanSave)
	})))
	mux.Handle("/", web.Secure(http.StripPrefix("/ray", inside)))
	return p
}

// browser is a browser with its cookies.
type browser struct {
	t      *testing.T
	client *http.Client
}

func (p *place) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t, &http.Client{Transport: transport, Jar: jar}}
}

// page is an answer that a browser shows, at the end of all redirects.
type page struct {
	status int
	at     *url.URL
	body   string
	header http.Header
}

func (b *browser) do(req *http.Request) page {
	b.t.Helper()
	answer, err := b.client.Do(req)
	require.NoError(b.t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	return page{answer.StatusCode, answer.Request.URL, string(body), answer.Header}
}

func (b *browser) get(address string, header ...string) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(b.t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return b.do(req)
}

func (b *browser) post(address string, form url.Values) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(req)
}

var action = regexp.MustCompile(`action="([^"]+)"`)

// login fills in the form of Keycloak, to which a page of the studio leads.
func (b *browser) login(p *place, path, email string) page {
	b.t.Helper()
	form := b.get(p.url + path)
	require.Contains(b.t, form.body, "Log in to Clowder")
	to, err := form.at.Parse(strings.ReplaceAll(action.FindStringSubmatch(form.body)[1], "&amp;", "&"))
	require.NoError(b.t, err)
	return b.post(to.String(), url.Values{"username": {email}})
}

func TestALoginAtKeycloakLeadsBackToThePage(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	b := p.browser(t)
	shown := b.login(p, "/runs/ft-1?tab=log", alice)
	require.Equal(t, p.url+"/runs/ft-1?tab=log", shown.at.String())
	require.Equal(t, "alice X sees /runs/ft-1?tab=log, save true", shown.body)
	require.Equal(t, "alice X sees /, save true", b.get(p.url+"/").body)
	require.Equal(t, 1, p.keycloak.Forms())

	// Keycloak still knows the browser after the studio has forgotten it.
	p.login.sessions = newSessions(p.login.provider, p.clock.now)
	require.Equal(t, "alice X sees /runs/ft-2, save true", b.get(p.url+"/runs/ft-2").body)
	require.Equal(t, 1, p.keycloak.Forms(), "without a form")
}

func TestALoginHasACookieThatScriptsDoNotSee(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://127.0.0.1:8781":         "ray=x; Path=/; HttpOnly; SameSite=Lax",
		"https://studio.example.org":    "__Host-ray=x; Path=/; HttpOnly; Secure; SameSite=Lax",
		"https://clowder.example.org/s": "__Secure-ray=x; Path=/s; HttpOnly; Secure; SameSite=Lax",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		w := httptest.NewRecorder()
		newCookies(u).set(w, sessionCookie, "x", 0)
		require.Equal(t, want, w.Header().Get("Set-Cookie"), address)
	}
}

func TestAnAnswerOfKeycloakThatBelongsToNoAttemptIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims func(map[string]any)
		change func(answer url.Values)
		want   string
	}{
		"another state":     {nil, func(a url.Values) { a.Set("state", a.Get("state")[:20]+"AAAAAA") }, "did not confirm"},
		"no state":          {nil, func(a url.Values) { a.Del("state") }, "begun in another browser"},
		"another issuer":    {nil, func(a url.Values) { a.Set("iss", "https://evil.example.org") }, "did not confirm"},
		"another code":      {nil, func(a url.Values) { a.Set("code", "x") }, "did not confirm"},
		"a refusal":         {nil, func(a url.Values) { a.Set("error", "access_denied") }, "did not confirm"},
		"another nonce":     {func(c map[string]any) { c["nonce"] = "x" }, nil, "did not confirm"},
		"another client":    {func(c map[string]any) { c["aud"] = "clowder2-backend" }, nil, "did not confirm"},
		"an old token":      {func(c map[string]any) { c["exp"] = 1 }, nil, "did not confirm"},
		"a foreign token":   {func(c map[string]any) { c["iss"] = "https://evil.example.org" }, nil, "did not confirm"},
		"a token that lies": {func(c map[string]any) { c["email"] = "admin@example.org" }, nil, ""}, // the identity is what Clowder says
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := build(t, setup{claims: c.claims})
			b := p.browser(t)
			b.client.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
				if c.change != nil && strings.HasSuffix(req.URL.Path, "/login/callback") {
					answer := req.URL.Query()
					c.change(answer)
					req.URL.RawQuery = answer.Encode()
				}
				return nil
			}
			shown := b.login(p, "/", alice)
			if c.want == "" {
				require.Equal(t, "alice X sees /, save true", shown.body)
				return
			}
			require.GreaterOrEqual(t, shown.status, 400)
			require.Contains(t, shown.body, c.want)
			require.Empty(t, p.login.sessions.held)
		})
	}
}

func TestAnAnswerOfKeycloakCountsOnceInItsOwnBrowser(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	b, other := p.browser(t), p.browser(t)
	var callback string
	b.client.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(req.URL.Path, "/login/callback") {
			callback = req.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	b.login(p, "/", alice)
	require.Equal(t, http.StatusBadRequest, other.get(callback).status, "the answer was sent to another person")
	p.clock.pass(attemptLife)
	require.Equal(t, http.StatusBadRequest, b.get(callback).status, "it came too late")
	p.clock.pass(-attemptLife)
	require.Equal(t, http.StatusBadRequest, b.get(callback).status, "the cookie is gone")
}

func TestSomebodyWhomClowderDoesNotKnowIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	shown := p.browser(t).login(p, "/", stranger)
	require.Equal(t, http.StatusForbidden, shown.status)
	require.Contains(t, shown.body, "Open Clowder once, then come back.")
	require.Empty(t, p.login.sessions.held)
}

func TestALoginEnds(t *testing.T) {
	t.Parallel()
	day := func(b *browser, p *place, header ...string) {
		for range 9 {
			p.clock.pass(time.Hour)
			b.get(p.url+"/api/v1/news", header...)
		}
	}
	t.Run("after eight hours without a person, although a page asks for news", func(t *testing.T) {
		t.Parallel()
		p := build(t, setup{})
		b := p.browser(t)
		b.login(p, "/", alice)
		day(b, p, "Sec-Fetch-Dest", "empty")
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/news").status)
	})
	t.Run("twelve hours after its start", func(t *testing.T) {
		t.Parallel()
		p := build(t, setup{})
		b := p.browser(t)
		b.login(p, "/", alice)
		day(b, p)
		require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/news").status)
		p.clock.pass(3 * time.Hour)
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/news").status)
	})
	t.Run("when Keycloak ends it", func(t *testing.T) {
		t.Parallel()
		p := build(t, setup{})
		b := p.browser(t)
		b.login(p, "/", alice)
		p.clock.pass(6 * time.Minute)
		require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/news").status, "the token was renewed")
		p.keycloak.End()
		p.clock.pass(6 * time.Minute)
		shown := b.get(p.url + "/api/v1/news")
		require.Equal(t, http.StatusUnauthorized, shown.status)
		require.Contains(t, shown.body, `"type":"login"`)
	})
	t.Run("with a logout, here and at Keycloak", func(t *testing.T) {
		t.Parallel()
		p := build(t, setup{})
		b := p.browser(t)
		b.login(p, "/", alice)
		address, err := url.Parse(p.url)
		require.NoError(t, err)
		old := b.client.Jar.Cookies(address)
		shown := b.post(p.url+"/logout", nil)
		require.Contains(t, shown.body, "You are logged out")
		require.NotContains(t, shown.body, "goes on")
		require.Zero(t, p.keycloak.Logins())
		b.client.Jar.SetCookies(address, old)
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/news").status, "the cookie is worth nothing")
	})
}

func TestAPersonHasALimitedNumberOfLogins(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	var first string
	for i := range maxSessionsOfUser + 3 {
		p.clock.pass(time.Second)
		secret := p.login.sessions.begin(alice, nil)
		if i == 0 {
			first = secret
		}
	}
	require.Len(t, p.login.sessions.held, maxSessionsOfUser)
	_, err := p.login.sessions.find(nameOf(first), true)
	require.ErrorIs(t, err, errEnded)
	p.clock.pass(wholeLife)
	p.login.sessions.begin(bob, nil)
	require.Len(t, p.login.sessions.held, 1, "those that ended are gone")
}

func TestTheLoginServiceMayBeAway(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	p.keycloak.Close()
	shown := p.browser(t).get(p.url + "/")
	require.Equal(t, http.StatusBadGateway, shown.status)
	require.Contains(t, shown.body, "The login service of Clowder does not answer.")
	require.Contains(t, shown.body, "API key", "which is another way in")
}
