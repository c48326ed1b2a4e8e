//go:build integration

package studio

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/browser"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// testTimeout is how long a browser may take for the steps of one Do.
const testTimeout = time.Minute

// chromium is the browser that all tests share. It ends with the process.
var chromium = sync.OnceValues(func() (context.Context, error) {
	tabs, _, err := browser.Start(context.Background())
	return tabs, err
})

// tab is a tab of the browser with cookies of its own.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in its context
	s   *site.Site
}

// open opens a tab in which a user is logged in, at a page of the studio.
func open(t *testing.T, s *site.Site, user, page string) *tab {
	t.Helper()
	return openWith(t, s, s.Cookies(t, user), page)
}

// openWith opens a tab with these cookies.
func openWith(t *testing.T, s *site.Site, cookies []*http.Cookie, page string) *tab {
	t.Helper()
	parent, err := chromium()
	require.NoError(t, err)
	ctx, stop := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, s: s}
	require.NoError(t, chromedp.Do(ctx)) // the tab lives as long as the context of its first step
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, c := range cookies {
			if _, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: s.URL}); err != nil {
				return err
			}
		}
		return nil
	}), chromedp.Navigate(s.URL+"/"+page))
	return b
}

// do takes steps.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, testTimeout)
	defer stop()
	require.NoError(b.t, chromedp.Do(ctx, steps...))
}

// prepend runs a script in each page of the tab before those of the page.
func (b *tab) prepend(script string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// get evaluates an expression in the page.
func get[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b.t, err, expression)
	return v
}

// text is what a person reads in the element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return get[string](b, `document.querySelector(`+"`"+selector+"`"+`)?.innerText ?? ""`)
}

// look sets the size of the window and the theme.
func (b *tab) look(width, height int64, theme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		return err
	}))
}
