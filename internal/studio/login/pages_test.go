package login

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALoginLeadsToPagesOfTheStudioOnly(t *testing.T) {
	t.Parallel()
	for back, want := range map[string]string{
		"/runs/ft-1?tab=log":               "/runs/ft-1?tab=log",
		"/datasets/1/files/2":              "/datasets/1/files/2",
		"":                                 "/",
		"runs":                             "/",
		"//evil.example.org/":              "/",
		"/\\evil.example.org":              "/",
		"https://evil.example.org/":        "/",
		"javascript:alert(1)":              "/",
		"/runs\r\nSet-Cookie: a=b":         "/",
		"/login/oidc":                      "/",
		"/logout":                          "/",
		"/api/v1/runs":                     "/",
		"/%zz":                             "/",
		"/" + strings.Repeat("a", maxBack): "/",
	} {
		require.Equal(t, want, safeBack(back), back)
	}
}

func FuzzSafeBack(f *testing.F) {
	for _, seed := range []string{"/", "//a", "/\\a", "/a?b=c#d", "http://a", "/.//a", "/%2f%2fa", "/\t/a"} {
		f.Add(seed)
	}
	own, err := url.Parse("https://studio.example.org/x")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, back string) {
		to, err := own.Parse(safeBack(back))
		require.NoError(t, err)
		require.Equal(t, "https://studio.example.org", to.Scheme+"://"+to.Host)
	})
}

func FuzzSealedCookie(f *testing.F) {
	seal, err := newSealer(nil)
	require.NoError(f, err)
	good, err := seal.seal(keyCookie, keyLogin{Key: "k"})
	require.NoError(f, err)
	f.Add(good)
	f.Add("")
	f.Add(good[:len(good)-2])
	f.Fuzz(func(t *testing.T, text string) {
		var login keyLogin
		require.Equal(t, text == good, seal.open(keyCookie, text, &login) && login.Key == "k")
		require.False(t, seal.open(attemptCookie, text, &attempt{}), "a cookie for another purpose")
	})
}

func TestAFormOfNobodyIsNotLost(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	shown := p.browser(t).post(p.url+"/runs/ft-1/stop", url.Values{"a": {"b"}})
	require.Equal(t, http.StatusUnauthorized, shown.status)
	require.Contains(t, shown.body, "Go back, copy what you typed, log in, and send it again.")
	require.Contains(t, shown.body, `href="/ray/login"`)
}

func TestChangesHaveAQuotaAndQuestionsToAModelDoNot(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	b := p.browser(t)
	b.loginWithKey(p, p.clowder.Key(alice), "/")
	for i := range changesPerMinute {
		require.Equal(t, http.StatusOK, b.post(p.url+"/runs/ft-1/stop", nil).status, i)
	}
	shown := b.post(p.url+"/runs/ft-1/stop", nil)
	require.Equal(t, http.StatusTooManyRequests, shown.status)
	require.Equal(t, "2", shown.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, b.post(p.url+"/api/v1/models/x/predict", nil).status)
	other := p.browser(t)
	other.loginWithKey(p, p.clowder.Key(bob), "/")
	require.Equal(t, http.StatusOK, other.post(p.url+"/runs/ft-1/stop", nil).status, "another person")
}

func TestManyTabsAtTheLoginKeepTheCookiesSmall(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	b := p.browser(t)
	for range 3 * maxAttempts {
		require.Equal(t, http.StatusOK, b.get(p.url+"/runs/x").status)
	}
	address, err := url.Parse(p.url)
	require.NoError(t, err)
	require.LessOrEqual(t, len(b.client.Jar.Cookies(address)), maxAttempts)
}

func TestNoSecretIsLoggedOrShown(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	b := p.browser(t)
	b.login(p, "/runs/x", alice)
	address, err := url.Parse(p.url)
	require.NoError(t, err)
	secrets := []string{p.clowder.Key(bob), "wrong-key-canary"}
	for _, cookie := range b.client.Jar.Cookies(address) {
		secrets = append(secrets, cookie.Value)
	}
	for _, one := range p.login.sessions.held {
		secrets = append(secrets, one.token.AccessToken, one.token.RefreshToken)
	}
	b.loginWithKey(p, p.clowder.Key(bob), "/")
	said := b.loginWithKey(p, "wrong-key-canary", "/").body + b.get(p.url+"/api/v1/me", "X-API-KEY", "wrong-key-canary").body
	p.keycloak.Close()
	p.login.provider.found = nil
	said += p.browser(t).get(p.url + "/login/oidc").body
	var logged strings.Builder
	for _, entry := range p.log.All() {
		fmt.Fprintln(&logged, entry.Message, entry.ContextMap())
	}
	said += logged.String()
	require.NotEmpty(t, p.log.All())
	for _, secret := range secrets {
		require.NotEmpty(t, secret)
		require.NotContains(t, said, secret)
	}
	require.NotContains(t, fmt.Sprintf("%+v %#v", Credential{Secret: "canary"}, Issuer{Secret: "canary"}), "canary")
}

func TestTheLoginPageOffersTheChosenWays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ways    []Method
		with    []string
		without []string
	}{
		"Keycloak and key": {[]Method{ByOIDC, ByKey}, []string{"/ray/login/oidc?back=%2fruns%2fx", "Use an API key instead", `name="key"`}, []string{"Open Clowder"}},
		"a key":            {[]Method{ByKey}, []string{`name="key"`, "autofocus"}, []string{"/login/oidc", "instead"}},
		"Keycloak":         {[]Method{ByOIDC}, []string{"/ray/login/oidc"}, []string{`name="key"`}},
		"the cookie":       {[]Method{ByCookie}, []string{"Open Clowder"}, []string{`name="key"`, "/login/oidc"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := build(t, setup{ways: c.ways})
			shown := p.browser(t).get(p.url + "/login?back=/runs/x")
			for _, text := range c.with {
				require.Contains(t, shown.body, text)
			}
			for _, text := range c.without {
				require.NotContains(t, shown.body, text)
			}
			status := http.StatusForbidden
			if c.ways[0] == ByOIDC && len(c.ways) == 1 || c.ways[0] == ByCookie {
				status = http.StatusNotFound
			}
			require.Equal(t, status, p.browser(t).loginWithKey(p, "x", "/").status)
		})
	}
}
