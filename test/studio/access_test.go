//go:build integration

package studio

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/stack"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// axe is the checker of accessibility, from the npm packages of the studio's scripts.
var axe = sync.OnceValues(func() (string, error) {
	cache := os.Getenv("CACHE")
	if cache == "" {
		home, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, "clowder-ray")
	}
	out, err := exec.CommandContext(context.Background(), filepath.Join(stack.Root(), "test/setup/ui.sh"), "packages", cache).Output()
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "node_modules/axe-core/axe.min.js"))
	return string(source), err
})

// pages are the pages of a site that holds a run in each state and a settings file.
func pages(t *testing.T, s *site.Site) map[string]string {
	t.Helper()
	file, err := s.Clowder.AddFile(s.Dataset, "finetune.yaml", strings.NewReader("epochs: 5\n# a comment\nseed: 7\n"))
	require.NoError(t, err)
	s.AddBirds(t, "metadata.species")
	s.Add(t, site.Run{ID: "ft-gonegonegonegonegone", Accuracy: 0.8, Version: 4, NoFolder: true, Text: "Accuracy 0.8 on 1,821 held-out rows."})
	return map[string]string{
		"the editor":           "datasets/" + s.Dataset + "/files/" + file,
		"the history":          "datasets/" + s.Dataset + "/files/" + file + "/versions",
		"a model":              "models/" + s.Dataset + "/reviews",
		"the champion changes": "models/" + s.Dataset + "/reviews/2/promote",
		"a manifest":           "models/" + s.Dataset + "/reviews/3/serve",
		"no models":            "datasets/" + s.Empty + "/models",
		"no files":             "datasets/" + s.Empty + "/files",
		"a run without files":  "runs/ft-gonegonegonegonegone",
		"one run to compare":   "compare?run=ft-yigcyhzk4mhq2nof7l3a",
		"the form, empty":      "datasets/" + s.Dataset + "/train",
		"a list with a filter": "datasets/" + s.Dataset + "/runs?state=done&q=nothing",
		"the login":            "login",
		"runs":                 "datasets/" + s.Dataset + "/runs",
		"my runs":              "",
		"no runs":              "datasets/" + s.Empty + "/runs",
		"a run":                "runs/ft-lr3e4dyy2gkf5pnmt3vc",
		"a run that goes":      "runs/ft-k3vr7now2ninghalfway",
		"a failed run":         "runs/ft-first3ilm6reviews2ab",
		"a waiting run":        "runs/ft-a7waiting2inline4rayq",
		"a comparison":         "compare?run=ft-yigcyhzk4mhq2nof7l3a&run=ft-b2kq91xav5tuw3jz4rme&run=ft-lr3e4dyy2gkf5pnmt3vc",
		"the form":             "datasets/" + s.Dataset + "/train?like=ft-lr3e4dyy2gkf5pnmt3vc",
		"a report":             "runs/ft-lr3e4dyy2gkf5pnmt3vc/report",
		"files":                "datasets/" + s.Dataset + "/files",
		"models":               "datasets/" + s.Dataset + "/models",
		"a file to label":      "runs/" + site.Birds + "/label",
		"a text to label":      "runs/" + site.Birds + "/label?at=2",
		"the end of a list":    "runs/" + site.Birds + "/label?after=3",
		"an error":             "runs/ft-none",
	}
}

// findings are what axe-core finds in the page, a line for each.
const findings = `axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], iframes: false}).then(r =>
	window.found = r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')).join('\n'))`

// TestPagesAreAccessible looks at every page in both themes and at both widths with axe-core, which finds nothing.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	source, err := axe()
	require.NoError(t, err)
	s := site.New(t, site.Options{})
	s.Fill(t)
	all := pages(t, s)
	all["as a viewer: runs"], all["as a viewer: the editor"], all["as a viewer: a model"] = all["runs"], all["the editor"], all["a model"]
	all["nobody: the login"] = "login"
	for name, page := range all {
		t.Run(name, func(t *testing.T) {
			var b *tab
			switch {
			case strings.HasPrefix(name, "as a viewer"):
				b = open(t, s, site.Carol, page)
			case strings.HasPrefix(name, "nobody"):
				b = visit(t, s, page)
				b.do(chromedp.WaitVisible("#key"), chromedp.SetValue("#key", "no key"), chromedp.Click("form button"))
				b.until("document.body.innerText.includes('Clowder does not accept this key')")
			default:
				b = open(t, s, site.Alice, page)
			}
			require.NotEmpty(t, b.text("h1"))
			if strings.HasPrefix(page, "runs/ft-k3vr7") {
				b.until(`document.querySelectorAll('.live-chart canvas').length === 2`)
				get[int](b, `(document.querySelectorAll('details').forEach(d => d.open = true), 1)`)
			}
			b.unguarded(source)
			for _, v := range views {
				b.look(v.width, 1000, v.theme)
				b.unguarded("delete window.found; " + findings)
				b.until("window.found !== undefined")
				require.Empty(t, get[string](b, "window.found"), "%d px, %s", v.width, v.theme)
			}
		})
	}
}

// unguarded runs a script of the test, which the policy of the page does not concern.
func (b *tab) unguarded(source string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("(() => { "+source+"; return true })()"))
	require.NoError(b.t, err)
}

// TestPagesWithoutScript reads every page and starts a comparison with script switched off.
func TestPagesWithoutScript(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	b := open(t, s, site.Alice, "")
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	for name, page := range pages(t, s) {
		b.do(chromedp.Navigate(s.URL + "/" + page))
		require.NotEmpty(t, b.html("h1"), name)
	}
	b.do(chromedp.Navigate(s.URL + "/runs/ft-k3vr7now2ninghalfway"))
	require.Contains(t, b.html("main"), "<svg", "the curves are drawn by the server")
	require.Contains(t, b.html("main"), "67")
	require.Contains(t, b.html("main"), "Values of each evaluation")
}

// html is the markup of an element, read without running a script of the page.
func (b *tab) html(selector string) string {
	b.t.Helper()
	html, err := chromedp.Run(b.ctx, chromedp.OuterHTML(selector))
	require.NoError(b.t, err)
	return html
}
