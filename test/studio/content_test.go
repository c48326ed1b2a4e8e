//go:build integration

package studio

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

const hostile = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>`

// watch notes in each page of a tab what its policy forbids.
func (b *tab) watch() {
	b.t.Helper()
	b.prepend(`window.violations = []; document.addEventListener('securitypolicyviolation', e => window.violations.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample))`)
}

func TestWhatUsersWroteIsNeverRun(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	const evil = "ft-evilevilevilevilevil"
	s.Add(t, site.Run{ID: evil, Name: hostile, Accuracy: 0.9, Version: 4, Text: "Accuracy 0.9 for " + hostile, Settings: map[string]any{"label_column": hostile}, Change: func(r *results.Result) {
		r.Model.Labels = []string{hostile, "positive"}
	}})
	const failing = "ft-failfailfailfailfail"
	s.Add(t, site.Run{ID: failing, Name: hostile, State: job.Failed, Text: hostile + "\x1b[31m"})
	b := open(t, s, site.Alice, "")
	b.watch()
	for _, path := range []string{
		"", "datasets/" + s.Dataset + "/runs", "datasets/" + s.Dataset + "/train?like=" + evil, "runs/" + evil, "runs/" + evil + "/report", "runs/" + failing, "runs/" + running,
		"compare?run=" + evil + "&run=" + finished, "runs/nothing", "login",
	} {
		b.do(chromedp.Navigate(s.URL + "/" + path))
		b.until("document.readyState === 'complete'")
		require.Empty(t, get[[]string](b, "window.violations"), path)
		require.True(t, get[bool](b, "window.attacked === undefined && !document.querySelector('main img[src=x]')"), path)
		require.Empty(t, get[[]string](b, "performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin + '/') && !n.startsWith('data:') && !n.startsWith('blob:'))"), path)
	}
	b.do(chromedp.Navigate(s.URL + "/runs/" + evil))
	require.Contains(t, b.text("h1"), "<img src=x", "it is text")
}

func TestFilesOfUsersAreNotPages(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	alice := s.Login(t, site.Alice)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/runs/"+running+"/files/log.txt", http.NoBody)
	require.NoError(t, err)
	got, err := alice.Do(req)
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Contains(t, got.Header.Get("Content-Disposition"), "attachment")
	require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
	require.Contains(t, got.Header.Get("Content-Security-Policy"), "sandbox")
}

func TestAPageOfAnotherOriginNeitherFramesNorChanges(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	b := open(t, s, site.Alice, "runs/"+running)
	require.Contains(t, b.text("h1"), "longer texts", "Alice is logged in")

	b.do(chromedp.Navigate(stranger(t, `<iframe src="`+s.URL+`/runs/`+running+`"></iframe>`)))
	framed := ""
	require.Eventually(t, func() bool {
		err := chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			tree, err := cdp.Call(ctx, t, page.GetFrameTree, cdp.Empty{})
			if err == nil && len(tree.FrameTree.ChildFrames) == 1 {
				framed = tree.FrameTree.ChildFrames[0].Frame.URL
			}
			return err
		}))
		return err == nil && framed != "" && framed != "about:blank"
	}, testTimeout, testTimeout/600)
	require.Contains(t, framed, "chrome-error:", "the browser shows nothing of it")

	b.do(chromedp.Navigate(stranger(t, `<form method="post" action="`+s.URL+`/runs/`+running+`/cancel"><button>go</button></form>`)))
	b.do(chromedp.Click("button"))
	b.until("document.body.innerText.includes('comes from another site')")
	b.do(chromedp.Navigate(stranger(t, `<script>
		fetch("`+s.URL+`/api/v1/runs/`+running+`/cancel", {method: "POST", credentials: "include", mode: "no-cors"}).then(() => document.title = "sent", () => document.title = "sent")
	</script>`)))
	b.until("document.title === 'sent'")
	rec, err := s.Store.Get(t.Context(), running)
	require.NoError(t, err)
	require.Nil(t, rec.Ending, "nobody cancelled it")
}
