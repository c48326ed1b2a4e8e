//go:build integration

package studio

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/nginx"
	"github.com/ncsa/clowder-ray/test/ports"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// behindNGINX starts a studio below /studio of an NGINX that keeps answers back until they are complete, as it does unless it is told
// otherwise.
func behindNGINX(t *testing.T) *site.Site {
	t.Helper()
	port, err := ports.Free(t.Context(), 1)
	require.NoError(t, err)
	s := site.New(t, site.Options{URL: fmt.Sprintf("http://127.0.0.1:%d/studio", port[0]), Keycloak: true})
	nginx.Start(t, port[0], `
		location / { return 404 "Clowder"; }
		location /studio { proxy_pass http://`+s.Listen+`; proxy_buffering on; proxy_buffers 8 32k; client_max_body_size 16m; }`)
	require.Eventually(t, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/login", http.NoBody)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(req)
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}, testTimeout, 20*time.Millisecond)
	return s
}

func TestBehindNGINXEverythingStaysBelowThePath(t *testing.T) {
	t.Parallel()
	s := behindNGINX(t)
	s.Fill(t)
	b := visit(t, s, "runs/"+finished)
	b.signIn(site.Alice)
	require.Equal(t, s.URL+"/runs/"+finished, get[string](b, "location.href"))
	for _, path := range []string{"", "datasets/" + s.Dataset + "/runs", "datasets/" + s.Dataset + "/train", "runs/" + finished, "runs/" + running, "runs/nothing"} {
		b.do(chromedp.Navigate(s.URL + "/" + path))
		require.Empty(t, get[[]string](b, `[...document.querySelectorAll('a[href], form[action], img[src], script[src], link[href], iframe[src]')]
			.map(e => new URL(e.getAttribute('href') ?? e.getAttribute('action') ?? e.getAttribute('src'), location.href))
			.filter(u => u.origin === location.origin && !u.pathname.startsWith('/studio/')).map(u => u.href)`), path)
	}
	for _, cookie := range s.Cookies(t, site.Bob) {
		require.NotEmpty(t, cookie.Value)
	}
	require.Empty(t, get[string](b, "fetch('/', {credentials: 'include'}).then(r => r.text()) && document.cookie"))
	b.do(chromedp.Click(`form[action$="/logout"] button`))
	b.until("document.body.innerText.includes('You are logged out')")
}

func TestBehindNGINXCookiesCarryThePath(t *testing.T) {
	t.Parallel()
	s := behindNGINX(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/login/key", strings.NewReader("key="+s.Clowder.Key(site.Alice)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.NotEmpty(t, answer.Cookies())
	for _, cookie := range answer.Cookies() {
		require.Equal(t, "/studio", cookie.Path)
		require.True(t, cookie.HttpOnly)
	}
}

func TestBehindNGINXAStreamArrivesAtOnce(t *testing.T) {
	t.Parallel()
	s := behindNGINX(t)
	s.Fill(t)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/v1/runs/"+running+"/events", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", s.Clowder.Key(site.Alice))
	req.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() {
		cancel() // Close alone waits for the reader below
		_ = answer.Body.Close()
	}()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Contains(t, answer.Header.Get("Content-Type"), "text/event-stream")
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(answer.Body); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	await := func(words string) {
		late := time.After(testTimeout)
		for line := ""; !strings.Contains(line, words); {
			var open bool
			select {
			case line, open = <-lines:
				require.True(t, open, "the stream ended before %s", words)
			case <-late:
				require.Fail(t, "the stream does not say "+words)
			}
		}
	}
	await("event: snapshot") // an event that is written earlier can be a part of it
	log, err := os.OpenFile(filepath.Join(s.Volume.Run(running).Path(), results.EventsFile), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	for n := range 3 {
		step := 140 + n
		_, err = fmt.Fprintf(log, `{"time":%q,"attempt":1,"kind":"progress","epoch":3,"epochs":3,"step":%d,"steps":150,"fraction":0.9%d,"loss":0.1234,"learning_rate":0.0001}`+"\n",
			time.Now().UTC().Format(time.RFC3339Nano), step, n)
		require.NoError(t, err)
		written := time.Now()
		await(fmt.Sprintf(`"step":%d`, step))
		t.Logf("from the volume through NGINX: %s", time.Since(written))
	}
}
