package login

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
)

func (b *browser) loginWithKey(p *place, key, back string) page {
	b.t.Helper()
	return b.post(p.url+"/login/key", url.Values{"key": {key}, "back": {back}})
}

func TestAKeyIsCheckedAndSealed(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{7}, 32)
	p := build(t, setup{keys: [][]byte{key}})
	b := p.browser(t)
	shown := b.loginWithKey(p, "  "+p.clowder.Key(alice)+"\n", "/runs/ft-1")
	require.Equal(t, "alice X sees /runs/ft-1, save false", shown.body)
	address, err := url.Parse(p.url)
	require.NoError(t, err)
	cookies := b.client.Jar.Cookies(address)
	require.Len(t, cookies, 1)
	require.NotContains(t, cookies[0].Value, p.clowder.Key(alice))

	t.Run("and outlives a restart with the same state key, new or old", func(t *testing.T) {
		for name, c := range map[string]struct {
			keys [][]byte
			want int
		}{
			"the same key":        {[][]byte{key}, http.StatusOK},
			"a new key before it": {[][]byte{bytes.Repeat([]byte{8}, 32), key}, http.StatusOK},
			"another key":         {[][]byte{bytes.Repeat([]byte{8}, 32)}, http.StatusUnauthorized},
			"none":                {nil, http.StatusUnauthorized},
		} {
			seal, err := newSealer(c.keys)
			require.NoError(t, err)
			p.login.sealer = seal
			require.Equal(t, c.want, b.get(p.url+"/api/v1/me").status, name)
		}
	})
}

func TestAWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	p := build(t, setup{ways: []Method{ByKey}})
	for name, key := range map[string]string{
		"an unknown key": "not-a-key-of-clowder", "nothing": "", "two words": "a b", "control characters": "a\x00b", "a long text": strings.Repeat("k", 3000),
	} {
		b := p.browser(t)
		shown := b.loginWithKey(p, key, "/")
		require.Equal(t, http.StatusForbidden, shown.status, name)
		require.Contains(t, shown.body, "Clowder does not accept this key", name)
		if key != "" {
			require.NotContains(t, shown.body, `"`+key, name)
		}
		require.Contains(t, b.get(p.url+"/").body, "Log in with the key", name)
	}
}

func TestALoginWithAKeyEnds(t *testing.T) {
	t.Parallel()
	p := build(t, setup{ways: []Method{ByKey}})
	address, err := url.Parse(p.url)
	require.NoError(t, err)
	begin := func() *browser {
		b := p.browser(t)
		b.loginWithKey(p, p.clowder.Key(alice), "/")
		require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/me").status)
		return b
	}
	t.Run("after eight hours without a person", func(t *testing.T) {
		b := begin()
		p.clock.pass(7 * time.Hour)
		require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/me").status)
		p.clock.pass(4 * time.Hour)
		require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/me", "Sec-Fetch-Dest", "empty").status)
		p.clock.pass(59 * time.Minute)
		require.Equal(t, http.StatusOK, b.get(p.url+"/api/v1/me", "Sec-Fetch-Dest", "empty").status)
		p.clock.pass(time.Minute)
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/me").status, "twelve hours after its start")
		b = begin()
		p.clock.pass(8 * time.Hour)
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/me").status)
	})
	t.Run("with a logout, for copies of the cookie as well", func(t *testing.T) {
		b := begin()
		old := b.client.Jar.Cookies(address)
		require.Contains(t, b.post(p.url+"/logout", nil).body, "You are logged out")
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/me").status)
		b.client.Jar.SetCookies(address, old)
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/me").status)
	})
	t.Run("within a minute after the key was deleted in Clowder", func(t *testing.T) {
		b := begin()
		p.clowder.RevokeKey(p.clowder.Key(alice))
		p.clock.pass(time.Minute)
		require.Equal(t, http.StatusUnauthorized, b.get(p.url+"/api/v1/me").status)
	})
}

func TestTheKeyOfAnInstallationIsNobodys(t *testing.T) {
	t.Parallel()
	p := build(t, setup{ways: []Method{ByKey}, version: 1})
	require.Equal(t, "alice X sees /, save false", p.browser(t).loginWithKey(p, p.clowder.Key(alice), "/").body)
	require.Equal(t, http.StatusForbidden, p.browser(t).loginWithKey(p, p.clowder.GlobalKey(), "/").status)
	require.Equal(t, http.StatusUnauthorized, p.browser(t).get(p.url+"/api/v1/me", "X-API-KEY", p.clowder.GlobalKey()).status)
	require.Equal(t, http.StatusUnauthorized, p.browser(t).get(p.url+"/api/v1/me", "Authorization", "Bearer x").status)
}

func TestScriptsSendTheCredentialInAHeader(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	token := p.clowder.Token(alice)
	for name, c := range map[string]struct {
		path, header, value string
		status              int
		body                string
	}{
		"a key":                  {"/api/v1/me", "X-API-KEY", p.clowder.Key(bob), 200, "bob X sees /api/v1/me, save false"},
		"a token":                {"/api/v1/me", "Authorization", "bearer " + token, 200, "alice X sees /api/v1/me, save true"},
		"a model asks":           {"/v2/models/x", "X-API-KEY", p.clowder.Key(bob), 200, "bob X"},
		"a wrong key":            {"/api/v1/me", "X-API-KEY", "wrong", 401, `"type":"login"`},
		"a wrong token":          {"/api/v1/me", "Authorization", "Bearer wrong", 401, `"type":"login"`},
		"a key with a line":      {"/api/v1/me", "Authorization", "Bearer a b", 401, `"type":"login"`},
		"a stranger":             {"/api/v1/me", "Authorization", "Bearer " + p.clowder.Token(stranger), 403, `"type":"unknown-user"`},
		"a page takes no header": {"/runs/x", "X-API-KEY", p.clowder.Key(bob), 200, "Log in to Clowder"},
		"nothing":                {"/api/v1/me", "X-Nothing", "x", 401, `"do":"Log in again.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := p.browser(t).get(p.url+c.path, c.header, c.value)
			require.Equal(t, c.status, shown.status)
			require.Contains(t, shown.body, c.body)
			require.Equal(t, c.status == 401, shown.header.Get("WWW-Authenticate") != "")
		})
	}
}

func TestTheCookieOfClowderCountsOnlyWhereTheOperatorChoseIt(t *testing.T) {
	t.Parallel()
	with, without := build(t, setup{ways: []Method{ByCookie, ByKey}}), build(t, setup{ways: []Method{ByKey}})
	for name, form := range map[string]func(token string) string{
		"as the page writes it": clowdertest.CookieOf,
		"as the API writes it":  func(token string) string { return `Authorization="Bearer ` + token + `"` },
	} {
		require.Equal(t, "alice X sees /, save true", with.browser(t).get(with.url+"/", "Cookie", form(with.clowder.Token(alice))).body, name)
		require.Contains(t, without.browser(t).get(without.url+"/", "Cookie", form(without.clowder.Token(alice))).body, "Log in with the key", name)
	}
	for _, wrong := range []string{"Authorization=x", "Authorization=Bearer%20", "Authorization=%zz", "Authorization=Basic%20x", "Authorization=Bearer%20x"} {
		require.Contains(t, with.browser(t).get(with.url+"/", "Cookie", wrong).body, "Open Clowder", wrong)
	}
}
