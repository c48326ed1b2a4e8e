//go:build clowder1

package clowder1

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/browser"
)

// testTimeout is how long a browser may take for the steps of one do.
const testTimeout = time.Minute

// tab is a tab of a Chromium in which alice is logged in.
type tab struct {
	r   *fixture
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in its context
}

// openTab starts the Chromium that is installed.
func (f *fixture) openTab() *tab {
	f.Helper()
	ctx, stop, err := browser.Start(context.Background())
	require.NoError(f, err)
	f.Cleanup(stop)
	b := &tab{r: f, ctx: ctx}
	home, err := url.Parse(f.url)
	require.NoError(f, err)
	b.do(chromedp.EmulateViewport(1300, 1100), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, c := range f.browser.Jar.Cookies(home) {
			if _, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: f.url}); err != nil {
				return err
			}
		}
		return nil
	}))
	b.serveFormLibrary()
	return b
}

// serveFormLibrary answers what the pages request from other sites: with the library that draws forms, from the folder that FORM_LIBRARY
// names, and with nothing else. Without this folder the browser asks these sites.
func (b *tab) serveFormLibrary() {
	b.r.Helper()
	folder := os.Getenv("FORM_LIBRARY")
	if folder == "" {
		return
	}
	scripts := map[string][]byte{}
	for name, file := range map[string]string{"underscore.js": "deps/underscore.js", "jsonform.min.js": "lib/jsonform.js"} {
		script, err := os.ReadFile(filepath.Join(folder, file))
		require.NoError(b.r, err, "FORM_LIBRARY must name the folder of the npm package jsonform")
		scripts[name] = script
	}
	answer := func(e *fetch.EventRequestPaused) {
		t := chromedp.FromContext(b.ctx).Target
		at, err := url.Parse(e.Request.URL)
		if err != nil || strings.HasPrefix(e.Request.URL, b.r.url) {
			_, _ = cdp.Call(b.ctx, t, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			return
		}
		script, found := scripts[filepath.Base(at.Path)]
		if !found {
			_, _ = cdp.Call(b.ctx, t, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonAccessDenied})
			return
		}
		_, _ = cdp.Call(b.ctx, t, fetch.FulfillRequest, fetch.FulfillRequestParams{
			RequestID: e.RequestID, ResponseCode: 200, Body: script,
			ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/javascript"}},
		})
	}
	require.NoError(b.r, chromedp.Listen(b.ctx, func(ev any) {
		if e, ok := ev.(*fetch.EventRequestPaused); ok {
			go answer(e) // a listener must not wait for the browser
		}
	}))
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, fetch.Enable, fetch.EnableParams{})
		return err
	}))
}

// do takes steps.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.r.Helper()
	ctx, stop := context.WithTimeout(b.ctx, testTimeout)
	defer stop()
	require.NoError(b.r, chromedp.Do(ctx, steps...))
}

// goTo opens a page of Clowder.
func (b *tab) goTo(page string) {
	b.r.Helper()
	b.do(chromedp.Navigate(b.r.url + page))
}

// get evaluates an expression in the page.
func get[T any](b *tab, expression string) T {
	b.r.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b.r, err, expression)
	return v
}

// until waits until an expression is true in the page.
func (b *tab) until(expression string) {
	b.r.Helper()
	require.Eventually(b.r, func() bool { return get[bool](b, expression) }, testTimeout, 100*time.Millisecond, expression)
}

// click clicks the first element of a jQuery selection.
func (b *tab) click(selection string) {
	b.r.Helper()
	require.True(b.r, get[bool](b, `(e => e.length > 0 && (e[0].click(), true))(`+selection+`)`), "there is no %s", selection)
}

// whole is a picture of the whole page.
var whole = chromedp.FullScreenshot(100)

// photograph writes a picture into the folder that PICTURES names.
func (b *tab) photograph(name string, picture chromedp.Action[[]byte]) {
	b.r.Helper()
	folder := cmp.Or(os.Getenv("PICTURES"), b.r.TempDir())
	require.NoError(b.r, os.MkdirAll(folder, 0o750))
	shot, err := chromedp.Run(b.ctx, picture)
	require.NoError(b.r, err)
	require.NoError(b.r, os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600))
}
