package login

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestTheStudioHoldsALimitedNumberOfLogins(t *testing.T) {
	t.Parallel()
	at := &clock{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	s := newSessions(nil, at.now)
	first := s.begin("first", nil)
	at.pass(time.Second)
	second := s.begin("second", nil)
	at.pass(time.Second)
	for i := range maxSessions - 2 {
		one := &session{name: strconv.Itoa(i), email: strconv.Itoa(i), started: at.now(), used: at.now()}
		s.held[one.name] = one
	}
	_, err := s.find(nameOf(first), true)
	require.NoError(t, err)
	s.begin("one more", nil)
	require.Len(t, s.held, maxSessions)
	_, err = s.find(nameOf(second), false)
	require.ErrorIs(t, err, errEnded, "it was used longest ago")
	_, err = s.find(nameOf(first), false)
	require.NoError(t, err, "it began before that, and was used since")
}

func TestWhatACookieHoldsOpensWithItsOwnKeysOnly(t *testing.T) {
	t.Parallel()
	one, two := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	sealed := func(keys ...[]byte) (sealer, string) {
		s, err := newSealer(keys)
		require.NoError(t, err)
		text, err := s.seal("a", "hello")
		require.NoError(t, err)
		return s, text
	}
	s, text := sealed(one, two)
	_, old := sealed(two)
	_, foreign := sealed()
	again, err := s.seal("a", "hello")
	require.NoError(t, err)
	require.NotEqual(t, text, again, "nobody sees that two cookies hold the same")
	flipped := []byte(text)
	flipped[10] ^= 1
	for name, c := range map[string]struct {
		purpose, text string
		opens         bool
	}{
		"its own":               {"a", text, true},
		"of the key before":     {"a", old, true},
		"of another studio":     {"a", foreign, false},
		"for another purpose":   {"b", text, false},
		"changed":               {"a", string(flipped), false},
		"cut off":               {"a", text[:len(text)-4], false},
		"in another alphabet":   {"a", text + "==", false},
		"nothing":               {"a", "", false},
		"longer than any is":    {"a", strings.Repeat("A", maxSealed+1), false},
		"as long as one may be": {"a", base64.RawURLEncoding.EncodeToString(make([]byte, maxSealed/4*3)), false},
	} {
		var into string
		require.Equal(t, c.opens, s.open(c.purpose, c.text, &into), name)
		require.Equal(t, c.opens, into == "hello", name)
	}
	var number int
	require.False(t, s.open("a", text, &number), "a value of another form")
}

func TestAStateKeyOfAnotherLengthStopsTheStart(t *testing.T) {
	t.Parallel()
	site := web.NewSite(&url.URL{Scheme: "https", Host: "studio.example.org"}, "", noAssets{http.NotFoundHandler()}, zap.NewNop())
	_, err := New(site, &oracle{}, Config{Methods: []Method{ByKey}, Keys: [][]byte{bytes.Repeat([]byte("k"), 31)}})
	require.ErrorContains(t, err, "the key for cookies")
	require.NotContains(t, err.Error(), "kkk")
}

func TestOnlyChangesCountAsChanges(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]bool{
		"GET /runs/ft-1/stop":               false,
		"HEAD /runs/ft-1/stop":              false,
		"POST /runs/ft-1/stop":              true,
		"PUT /api/v1/files/1":               true,
		"DELETE /api/v1/files/1":            true,
		"POST /v2/models/d.m/infer":         false,
		"POST /api/v1/models/d/m/1/predict": false,
		"POST /models/d/m/try":              false,
		"POST /api/v1/files/1/check":        false,
		"POST /models/d/m/1/promote":        true,
		"POST /predict/":                    true,
		"POST /tensorboard/ft-1/data/x":     false,
		"POST /datasets/tensorboard/x":      true,
	} {
		method, path, _ := strings.Cut(request, " ")
		require.Equal(t, want, changes(httptest.NewRequest(method, path, http.NoBody)), request)
	}
}

func TestACredentialIsPrintableAndNotTooLong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "a": true, "a.b-c_d~!": true, " ": false, "a b": false, "a\n": false, "a\x7f": false, "ä": false, "a\x00": false,
		strings.Repeat("k", maxCredential): true, strings.Repeat("k", maxCredential+1): false,
	} {
		require.Equal(t, want, plain(text), "%.20q", text)
	}
}

func TestAScriptOfAnOpenPageIsNotLedToTheLogin(t *testing.T) {
	t.Parallel()
	p := build(t, setup{ways: []Method{ByKey}})
	for dest, status := range map[string]int{"": 200, "document": 200, "empty": 401, "image": 401, "iframe": 401} {
		shown := p.browser(t).get(p.url+"/runs/x?a=b", "Sec-Fetch-Dest", dest)
		require.Equal(t, status, shown.status, dest)
		require.Equal(t, status == 200, shown.at.Query().Get("back") == "/runs/x?a=b", dest)
	}
}

func TestALoginThatClowderEndedLosesNoForm(t *testing.T) {
	t.Parallel()
	p := build(t, setup{ways: []Method{ByCookie}})
	token := p.clowder.Token(alice)
	p.clowder.RevokeToken(token)
	b := p.browser(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/runs/ft-1/stop", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Cookie", "Authorization=Bearer%20"+token)
	shown := b.do(req)
	require.Equal(t, http.StatusUnauthorized, shown.status)
	require.Contains(t, shown.body, "Your login has ended, or there was none.")
	require.NotContains(t, shown.body, token)
}

func TestThePageAfterALogoutClearsWhatTheBrowserKept(t *testing.T) {
	t.Parallel()
	p := build(t, setup{ways: []Method{ByKey}})
	b := p.browser(t)
	require.Contains(t, b.post(p.url+"/logout", nil).body, `<img src="/ray/logout/clear"`, "also for nobody")
	shown := b.get(p.url + "/logout/clear")
	require.Equal(t, http.StatusNoContent, shown.status)
	require.Equal(t, `"cache"`, shown.header.Get("Clear-Site-Data"))
}
