//go:build integration

package studio

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/test/studio/site"
)

// TestSecretsStayWhereTheyBelong uses each way to log in, right and wrong, and looks for the secrets in what the studio says and writes.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	core, seen := observer.New(zapcore.DebugLevel)
	s := site.New(t, site.Options{Keycloak: true, Log: zap.New(core)})
	s.Fill(t)
	var said strings.Builder
	b := visit(t, s, "runs/"+finished)
	b.signIn(site.Alice)
	for _, path := range []string{"", "datasets/" + s.Dataset + "/runs", "datasets/" + s.Dataset + "/train", "runs/" + finished, "runs/" + running, "login"} {
		b.do(chromedp.Navigate(s.URL + "/" + path))
		said.WriteString(get[string](b, "location.href + document.documentElement.outerHTML"))
	}
	secrets := append(s.Keycloak.Tokens(), s.Clowder.Key(site.Alice), s.Clowder.Key(site.Bob), "wrong-canary-key", "wrong.canary.token")
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		got, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{URLs: []string{s.URL + "/"}})
		for _, cookie := range got.Cookies {
			secrets = append(secrets, cookie.Value)
		}
		return err
	}))
	for _, cookie := range s.Cookies(t, site.Bob) {
		secrets = append(secrets, cookie.Value)
	}
	visitor := &http.Client{}
	for _, header := range []map[string]string{
		{"X-API-KEY": s.Clowder.Key(site.Alice)}, {"Authorization": "Bearer " + s.Keycloak.Tokens()[0]}, {"X-API-KEY": "wrong-canary-key"}, {"Authorization": "Bearer wrong.canary.token"},
	} {
		for _, path := range []string{"/api/v1/me", "/api/v1/runs/" + finished, "/api/v1/runs/" + invented, "/api/v1/runs/" + finished + "/cancel"} {
			method := http.MethodGet
			if strings.HasSuffix(path, "/cancel") {
				method = http.MethodPost
			}
			_, body := answer(t, visitor, method, s.URL+path, header)
			said.WriteString(body)
		}
	}
	_, body := send(t, visitor, http.MethodPost, s.URL+"/login/key", url.Values{"key": {"wrong-canary-key"}}.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	said.WriteString(body)
	require.NoError(t, s.Clowder.Close())
	_, body = answer(t, visitor, http.MethodGet, s.URL+"/api/v1/me", map[string]string{"X-API-KEY": "wrong-canary-key-2"})
	said.WriteString(body)

	for _, entry := range seen.All() {
		fmt.Fprintln(&said, entry.Message, entry.ContextMap())
	}
	require.NotEmpty(t, seen.All())
	require.NoError(t, fs.WalkDir(os.DirFS(s.Volume.Dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(os.DirFS(s.Volume.Dir), path)
		for _, secret := range secrets {
			require.False(t, bytes.Contains(body, []byte(secret)), path)
		}
		return err
	}))
	require.Greater(t, len(secrets), 6)
	for _, secret := range secrets {
		require.NotEmpty(t, secret)
		require.NotContains(t, said.String(), secret)
	}
}
