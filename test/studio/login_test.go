//go:build integration

package studio

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

const (
	finished = "ft-lr3e4dyy2gkf5pnmt3vc"
	running  = "ft-k3vr7now2ninghalfway"
	invented = "ft-aaaaaaaaaaaaaaaaaaaa"
)

// visit opens a tab of somebody who is not logged in.
func visit(t *testing.T, s *site.Site, page string) *tab {
	t.Helper()
	parent, err := chromium()
	require.NoError(t, err)
	ctx, stop := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, s: s}
	require.NoError(t, chromedp.Do(ctx))
	b.do(chromedp.Navigate(s.URL + "/" + page))
	return b
}

// until waits until an expression is true in the page that is shown then.
func (b *tab) until(expression string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		return err == nil && ok
	}, testTimeout, 50*time.Millisecond, expression)
}

// signIn fills in the form of Keycloak.
func (b *tab) signIn(email string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible("#username"), chromedp.SendKeys("#username", email), chromedp.Click("#kc-login"))
	b.until("document.readyState === 'complete' && location.href.startsWith('" + b.s.URL + "')")
}

// forget removes a cookie of the studio.
func (b *tab) forget(name string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.DeleteCookies, network.DeleteCookiesParams{Name: name, URL: b.s.URL + "/"})
		return err
	}))
}

func TestAnyPageLeadsToKeycloakAndBack(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{Keycloak: true})
	s.Fill(t)
	page := s.URL + "/runs/" + finished
	b := visit(t, s, "runs/"+finished)
	b.signIn(site.Alice)
	require.Equal(t, page, get[string](b, "location.href"))
	require.Contains(t, b.text("h1"), "stars-lr3e-4")
	require.Empty(t, get[string](b, "document.cookie"), "no script sees a cookie")

	b.forget("ray")
	b.do(chromedp.Navigate(page))
	require.Contains(t, b.text("h1"), "stars-lr3e-4", "Keycloak knows the browser")
	require.Equal(t, 1, s.Keycloak.Forms(), "one form in all")

	b.do(chromedp.Click(`form[action$="/logout"] button`))
	b.until("document.body.innerText.includes('You are logged out')")
	require.Zero(t, s.Keycloak.Logins(), "at Keycloak, too")
	b.until("document.querySelector('img').complete")                           // by then the browser has thrown the pages away
	_, _ = chromedp.Run(b.ctx, chromedp.Evaluate[bool]("history.back(), true")) // the page goes before it answers
	b.until("document.querySelector('#username') !== null")
	require.NotContains(t, get[string](b, "document.documentElement.outerHTML"), "stars-lr3e-4", "the way back shows nothing")
}

func TestAKeyOfClowderIsAWayIn(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	b := visit(t, s, "runs/"+finished)
	send := func(key string) {
		b.do(chromedp.WaitVisible("#key"), chromedp.SetValue("#key", key), chromedp.Click("form button"))
	}
	send("not-a-key")
	b.until("document.body.innerText.includes('Clowder does not accept this key')")
	send(s.Clowder.Key(site.Alice))
	b.until("document.querySelector('h1').innerText.includes('stars-lr3e-4')")
	require.Equal(t, s.URL+"/runs/"+finished, get[string](b, "location.href"))
}

var (
	nonce = regexp.MustCompile(`content="[A-Z2-7]{26}"|nonce="[A-Z2-7]{26}"`)
	runID = regexp.MustCompile(`ft-[a-z0-9]{20}`)
)

// answer reads a page as the user of a client.
func answer(t *testing.T, client *http.Client, method, address string, header map[string]string) (int, string) {
	t.Helper()
	return send(t, client, method, address, "", header)
}

// send sends a form as the user of a client.
func send(t *testing.T, client *http.Client, method, address, form string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form))
	require.NoError(t, err)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	got, err := client.Do(req)
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got.StatusCode, runID.ReplaceAllString(nonce.ReplaceAllString(string(body), ""), "RUN")
}

func TestForbiddenAndInventedLookTheSame(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	dave := s.Login(t, site.Dave)
	for _, c := range []struct{ method, path string }{
		{http.MethodGet, "/runs/RUN"},
		{http.MethodGet, "/runs/RUN/report"},
		{http.MethodGet, "/runs/RUN/files/log.txt"},
		{http.MethodGet, "/api/v1/runs/RUN"},
		{http.MethodGet, "/api/v1/runs/RUN/events"},
		{http.MethodGet, "/api/v1/runs/RUN/log"},
		{http.MethodGet, "/compare?run=RUN&run=" + finished},
		{http.MethodPost, "/runs/RUN/cancel"},
		{http.MethodPost, "/api/v1/runs/RUN/stop"},
	} {
		status, existing := answer(t, dave, c.method, s.URL+strings.ReplaceAll(c.path, "RUN", running), nil)
		other, none := answer(t, dave, c.method, s.URL+strings.ReplaceAll(c.path, "RUN", invented), nil)
		require.Equal(t, http.StatusNotFound, status, c.path)
		require.Equal(t, other, status, c.path)
		require.Equal(t, none, existing, c.path)
	}
	for _, path := range []string{"/datasets/DATASET/runs", "/datasets/DATASET/train", "/api/v1/datasets/DATASET"} {
		status, _ := answer(t, dave, http.MethodGet, s.URL+strings.ReplaceAll(path, "DATASET", s.Dataset), nil)
		require.Equal(t, http.StatusNotFound, status, path)
	}
}

func TestAViewerSeesNoButtonAndIsRefused(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	b := open(t, s, site.Carol, "runs/"+running)
	require.Contains(t, b.text("h1"), "longer texts")
	for _, page := range []string{"runs/" + running, "runs/" + finished, "datasets/" + s.Dataset + "/runs"} {
		b.do(chromedp.Navigate(s.URL + "/" + page))
		require.Empty(t, get[string](b, `[...document.querySelectorAll('main button, main a.button')].map(e => e.innerText.trim())
			.filter(text => /^(Train|Save|Promote|Cancel|Stop|Retry|Run again)/.test(text)).join()`), page)
	}
	carol := s.Login(t, site.Carol)
	for path, form := range map[string]string{
		"/runs/" + running + "/cancel": "", "/runs/" + running + "/stop": "", "/api/v1/runs/" + running + "/cancel": "",
		"/datasets/" + s.Dataset + "/train": "extractor=ncsa.ray.finetune",
	} {
		status, body := send(t, carol, http.MethodPost, s.URL+path, form, map[string]string{"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"})
		require.Equal(t, http.StatusForbidden, status, "%s: %s", path, body)
	}
	rec, err := s.Store.Get(t.Context(), running)
	require.NoError(t, err)
	require.Equal(t, job.Running, rec.State)
	require.Nil(t, rec.Ending)
}

func TestTheStudioOfAClowderV1(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{Version: 1})
	s.Fill(t)
	for user, want := range map[string]int{site.Alice: http.StatusOK, site.Carol: http.StatusOK, site.Dave: http.StatusNotFound} {
		client := s.Login(t, user)
		for _, path := range []string{"/datasets/" + s.Dataset + "/runs", "/datasets/" + s.Empty + "/runs", "/runs/" + running, "/datasets/" + s.Dataset + "/models"} {
			status, body := answer(t, client, http.MethodGet, s.URL+path, nil)
			require.Equal(t, want, status, "%s %s", user, path)
			require.Equal(t, want == http.StatusOK, strings.Contains(body, "Film reviews") || strings.Contains(body, "Letters"), "%s %s", user, path)
		}
	}
	status, _ := answer(t, &http.Client{}, http.MethodGet, s.URL+"/api/v1/me", map[string]string{"X-API-KEY": s.Clowder.GlobalKey()})
	require.Equal(t, http.StatusUnauthorized, status, "the key of the installation is nobody's")
}

// stranger serves a page of another origin on the same machine, as Clowder is one.
func stranger(t *testing.T, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>other</title>"+body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
