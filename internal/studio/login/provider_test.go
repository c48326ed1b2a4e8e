package login

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/studio/login/logintest"
)

// fault is what comes instead of an answer of Keycloak: an error of the network, or an answer with a status.
type fault struct {
	err            error
	status         int
	location, body string
}

// line is the way to Keycloak. It counts requests by the last part of their path, and puts faults in place of their answers.
type line struct {
	next http.RoundTripper

	mu     sync.Mutex
	faults map[string]fault
	seen   map[string]int
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	l.mu.Lock()
	l.seen[last]++
	f, found := l.faults[last]
	l.mu.Unlock()
	switch {
	case !found:
		return l.next.RoundTrip(r)
	case f.err != nil:
		return nil, f.err
	}
	head := http.Header{"Content-Type": {"application/json"}}
	if f.location != "" {
		head.Set("Location", f.location)
	}
	return &http.Response{StatusCode: f.status, Header: head, Body: io.NopCloser(strings.NewReader(f.body)), Request: r}, nil
}

// set puts a fault in place of all answers of an address, or takes it away.
func (l *line) set(last string, f *fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.faults, last)
	if f != nil {
		l.faults[last] = *f
	}
}

func newLine(next http.RoundTripper) *line {
	return &line{next: next, faults: map[string]fault{}, seen: map[string]int{}}
}

// lined puts a line between the studio and its Keycloak.
func (p *place) lined() *line {
	l := newLine(p.login.provider.of.HTTP.Transport)
	p.login.provider.of.HTTP.Transport = l
	return l
}

// expireIn lets the access tokens of all logins end so long after the clock of the studio.
func (p *place) expireIn(d time.Duration) {
	for _, one := range p.login.sessions.held {
		one.token.Expiry = p.clock.now().Add(d)
	}
}

func TestAnExchangeThatFailsSaysWhetherToTryAgain(t *testing.T) {
	t.Parallel()
	const away, refused = "The login service of Clowder does not answer.", "The login service of Clowder did not confirm the login."
	for name, c := range map[string]struct {
		fault  fault
		status int
		said   string
	}{
		"Keycloak breaks":                   {fault{status: 502, body: "canary"}, 503, away},
		"the network breaks":                {fault{err: errors.New("connection reset")}, 503, away},
		"Keycloak refuses":                  {fault{status: 400, body: `{"error":"invalid_grant","error_description":"canary"}`}, 403, refused},
		"Keycloak sends no token":           {fault{status: 200, body: `{"canary":1}`}, 503, away},
		"Keycloak does not say who it is":   {fault{status: 200, body: `{"access_token":"canary","token_type":"Bearer"}`}, 403, refused},
		"Keycloak signs with another's key": {fault{status: 200, body: `{"access_token":"canary","id_token":"e30.e30.e30"}`}, 403, refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := build(t, setup{})
			p.lined().set("token", &c.fault)
			shown := p.browser(t).login(p, "/runs/ft-1", alice)
			require.Equal(t, c.status, shown.status)
			require.Contains(t, shown.body, c.said)
			require.NotContains(t, shown.body, "canary")
			require.Contains(t, shown.body, "back=%2fruns%2fft-1", "the next try leads to the same page")
			require.Empty(t, p.login.sessions.held)
			for _, entry := range p.log.All() {
				require.NotContains(t, entry.ContextMap()["error"], "canary", "an answer can repeat what was sent")
			}
		})
	}
}

func TestAnAccessTokenOfAnotherLoginIsRefused(t *testing.T) {
	t.Parallel()
	p := build(t, setup{claims: func(c map[string]any) { c["at_hash"] = "dG9rZW4gb2YgYW5vdGhlcg" }})
	shown := p.browser(t).login(p, "/", alice)
	require.Equal(t, http.StatusForbidden, shown.status)
	require.Contains(t, shown.body, "did not confirm the login")
	require.Empty(t, p.login.sessions.held)
}

func TestATokenThatStillLastsIsUsedWhileKeycloakIsAway(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	l := p.lined()
	b := p.browser(t)
	b.login(p, "/", alice)
	l.set("token", &fault{status: http.StatusBadGateway})
	p.expireIn(renewBefore / 2)
	require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/me").status, "it ends in some seconds only")
	require.Greater(t, l.seen["token"], 1, "Keycloak was asked")
	p.clock.pass(renewBefore)
	shown := b.get(p.url + "/api/v1/me")
	require.Equal(t, http.StatusServiceUnavailable, shown.status)
	require.Contains(t, shown.body, `"type":"login-service"`)
	require.Equal(t, "30", shown.header.Get("Retry-After"))
	l.set("token", nil)
	require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/me").status, "the login has outlived it")
}

func TestManyRequestsRenewATokenOnce(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	l := p.lined()
	b := p.browser(t)
	b.login(p, "/", alice)
	p.expireIn(0)
	var all sync.WaitGroup
	statuses := make([]int, 20)
	for i := range statuses {
		all.Go(func() { statuses[i] = b.get(p.url + "/api/v1/me").status })
	}
	all.Wait()
	for _, status := range statuses {
		require.Equal(t, http.StatusOK, status, "a refresh token counts once")
	}
	require.Equal(t, 2, l.seen["token"], "one for the login, and one for all requests")
}

func TestALogoutThatKeycloakDoesNotTakeSaysWhereToEndIt(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{"it refuses": {status: 400}, "it is away": {err: errors.New("connection refused")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := build(t, setup{})
			l := p.lined()
			b := p.browser(t)
			b.login(p, "/", alice)
			l.set("logout", &f)
			shown := b.post(p.url+"/logout", nil)
			require.Equal(t, http.StatusOK, shown.status)
			require.Contains(t, shown.body, "Your login at the login service of Clowder goes on.")
			require.Contains(t, shown.body, `href="`+p.keycloak.URL+`/logout?client_id=clowder-ray"`)
			for _, token := range p.keycloak.Tokens() {
				require.NotContains(t, shown.body, token)
			}
			require.Empty(t, p.login.sessions.held, "here it has ended")
		})
	}
}

func TestAnIssuerWithoutAPageForTheEndHasNoLinkToOne(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	b := p.browser(t)
	document := func(end string) *fault {
		at := p.keycloak.URL
		return &fault{status: http.StatusOK, body: `{"issuer":"` + at + `","authorization_endpoint":"` + at + `/auth","token_endpoint":"` + at +
			`/token","jwks_uri":"` + at + `/keys","id_token_signing_alg_values_supported":["ES256"],"end_session_endpoint":"` + end + `"}`}
	}
	l := p.lined()
	for _, end := range []string{"", "javascript:alert(1)"} {
		p.login.provider.found = nil
		l.set("openid-configuration", document(end))
		require.Equal(t, "alice X sees /, save true", b.login(p, "/", alice).body)
		shown := b.post(p.url+"/logout", nil)
		require.Contains(t, shown.body, "You are logged out")
		require.NotContains(t, shown.body, "javascript")
		require.NotContains(t, shown.body, "goes on")
		b = p.browser(t)
	}
}

func TestTheDoctorSaysWhatTheIssuerAnswered(t *testing.T) {
	t.Parallel()
	const callback = "https://studio.example.org/login/callback"
	broken := &url.Error{Op: "Get", URL: "https://canary", Err: errors.New("no route")}
	for name, c := range map[string]struct {
		at    string
		fault fault
		want  string
	}{
		"the page to log in is away": {"auth", fault{err: broken}, "the login service does not answer: the page to log in: no route"},
		"another flow": {
			"auth",
			fault{status: 303, location: callback + "?error=unauthorized_client&state=doctor"},
			"the client clowder-ray is refused (unauthorized_client): let it use the standard flow with PKCE S256",
		},
		"an error of strangers is short": {"auth", fault{status: 303, location: "?error=" + strings.Repeat("a", 100)}, strings.Repeat("a", 59) + "…)"},
		"a redirect URI that is absent":  {"auth", fault{status: 400, body: "Invalid parameter: redirect_uri"}, "add " + callback + " to"},
		"an issuer that breaks":          {"auth", fault{status: 500}, "does not know the client clowder-ray (500)"},
		"the exchange is away":           {"token", fault{err: broken}, "the login service does not answer: the exchange of a code: no route"},
		"the code is refused":            {"token", fault{status: 400, body: `{"error":"invalid_grant"}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, err := logintest.Start(logintest.Options{Redirects: []string{callback}})
			require.NoError(t, err)
			transport := &http.Transport{}
			t.Cleanup(func() { transport.CloseIdleConnections(); k.Close() })
			l := newLine(transport)
			l.set(c.at, &c.fault)
			err = Check(t.Context(), Issuer{URL: k.URL, Client: logintest.Client, HTTP: &http.Client{Transport: l}}, callback, time.Now())
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "canary")
		})
	}
}
