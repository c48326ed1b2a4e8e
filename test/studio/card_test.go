//go:build integration

package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// clowderPage serves a page that shows a visualization as the page of Clowder v2 does: as a fragment of the page itself.
func clowderPage(t *testing.T) (server *httptest.Server, show func(fragment string)) {
	t.Helper()
	fragment := ""
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Clowder</title><h1>Visualizations</h1><div data-html="%s"></div><script>
			const at = document.querySelector("div"); at.append(document.createRange().createContextualFragment(at.dataset.html))
			</script>`, html.EscapeString(fragment))
	}))
	t.Cleanup(server.Close)
	return server, func(f string) { fragment = f }
}

// shown is the whole page with the pages in its frames.
func (b *tab) shown() string {
	b.t.Helper()
	var all string
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		deep, pierce := int64(-1), true
		tree, err := cdp.Call(ctx, t, dom.GetDocument, dom.GetDocumentParams{Depth: &deep, Pierce: &pierce})
		if err != nil {
			return err
		}
		doc, err := json.Marshal(tree)
		all = string(doc)
		return err
	}))
	return all
}

// TestTheCardInClowder is a dataset page of Clowder while a run goes on: the card follows the run without a login, its link leads to the page
// of the run, and a page of anybody else shows no card.
func TestTheCardInClowder(t *testing.T) {
	t.Parallel()
	const run = "ft-k3vr7now2ninghalfway"
	page, show := clowderPage(t)
	s := site.New(t, site.Options{Page: page.URL, Prefix: "/studio"})
	s.Add(t, site.Run{ID: run, Name: "secret name", State: job.Running, Fraction: 0.6})
	fragment, err := s.Links.Page(run)
	require.NoError(t, err)
	show(fragment)

	b := visit(t, s, "login")
	b.do(chromedp.Navigate(page.URL))
	sees := func(words string) func() bool { return func() bool { return strings.Contains(b.shown(), words) } }
	require.Eventually(t, sees("Epoch 2 of 3, 60 %"), testTimeout, 300*time.Millisecond)
	require.NotContains(t, b.shown(), "secret name")
	s.Append(t, run, results.EventsFile, step(700, 0.2))
	require.Eventually(t, sees("Epoch 3 of 3, 70 %"), testTimeout, 300*time.Millisecond, "the card is loaded again by itself")

	link := get[string](b, `(() => { const a = document.querySelector("a"); return a.target + " " + a.rel + " " + a.href })()`)
	require.Equal(t, "_blank noopener "+s.URL+"/runs/"+run, link)
	alice := open(t, s, site.Alice, "runs/"+run)
	require.Contains(t, alice.text("h1"), "secret name")

	other, showOther := clowderPage(t)
	showOther(fragment)
	b.do(chromedp.Navigate(other.URL))
	require.Eventually(t, sees("chrome-error"), testTimeout, 300*time.Millisecond, "the browser refuses to show the card in another page")
	require.NotContains(t, b.shown(), "Epoch")
}
