//go:build integration

package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/test/browser"
)

// The pages that insert the reports: Clowder's card is a third of its page wide until it is made large.
const (
	narrow = 350
	wide   = 1400
	// browserPatience is how long a browser may take for a page.
	browserPatience = time.Minute
)

// host is a page that inserts a report as Clowder's viewer of HTML files does, with createContextualFragment, into cards of
// two widths on a light and a dark ground. Its script writes what it finds into the page. The policy lets nothing through
// but what a report may hold, so whatever a report asks the network for is a violation.
const host = `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>body{margin:0;font:18px serif;color:#222}.ground{padding:10px}.dark{background:#101418;color:#e8e8e8;color-scheme:dark}h2{color:#b00}table{border:3px solid #c0c}td{padding:1px}</style>
</head><body><div id="own"><h2>Dataset</h2><p>A <a href="#x">link</a> and <code>code</code></p><ul><li>one</li></ul><table><tr><th>a</th><td>b</td></tr></table><svg width="9" height="9"><text>t</text></svg><details><summary>s</summary></details></div>
%s<template id="report">%s</template><script id="findings" type="application/json"></script><script>
const found = {errors: [], requests: [], changed: [], overflow: [], hidden: [], ground: []};
addEventListener("error", e => found.errors.push(e.message), true);
addEventListener("securitypolicyviolation", e => found.requests.push(e.blockedURI));
console.error = (...words) => found.errors.push(words.join(" "));
const styles = () => [...document.querySelectorAll("#own, #own *")].map(e => [...getComputedStyle(e)].map(k => k + ":" + getComputedStyle(e)[k]).join(";"));
const before = styles();
const text = document.getElementById("report").innerHTML;
for (const card of document.querySelectorAll(".card")) {
  card.appendChild(document.createRange().createContextualFragment(text));
}
styles().forEach((s, i) => { if (s !== before[i]) found.changed.push(i + ""); });
for (const card of document.querySelectorAll(".card")) {
  for (const d of card.querySelectorAll("details")) d.open = true;
  const right = card.getBoundingClientRect().right + 1;
  for (const e of card.querySelectorAll("*")) {
    if (e.closest(".cft-scroll, pre, svg, style") && !e.matches(".cft-scroll, pre, svg")) continue;
    if (e.getBoundingClientRect().right > right) found.overflow.push(card.id + " " + e.tagName + "." + e.className);
  }
  for (const chart of card.querySelectorAll("svg.cft-chart")) {
    const boxes = [...chart.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    boxes.forEach(([text, a], i) => {
      const frame = chart.getBoundingClientRect();
      if (a.left < frame.left - 1 || a.right > frame.right + 1) found.hidden.push(card.id + " cuts " + text);
      for (const [other, b] of boxes.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 4) found.hidden.push(card.id + " " + text + " over " + other);
      }
    });
  }
  const root = getComputedStyle(card.querySelector(".cft-report"));
  found.ground.push(root.backgroundColor + " " + root.color);
}
for (const e of performance.getEntriesByType("resource")) found.requests.push(e.name);
document.getElementById("findings").textContent = JSON.stringify(found);
</script></body></html>`

// findings is what the host page writes down.
type findings struct{ Errors, Requests, Changed, Overflow, Hidden, Ground []string }

func TestReportInsideAPageAsClowderShowsIt(t *testing.T) {
	t.Parallel()
	program := findBrowser(t)
	for name, page := range pagesToLookAt(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := look(t, program, page)
			require.Empty(t, got.Errors)
			require.Empty(t, got.Requests)
			require.Empty(t, got.Changed, "the style of the page around the report")
			require.Empty(t, got.Overflow)
			require.Empty(t, got.Hidden, "words of a chart that stand on others or beyond its frame")
			require.Len(t, got.Ground, 4)
			for _, ground := range got.Ground {
				require.Equal(t, "rgb(255, 255, 255) rgb(31, 41, 51)", ground, "dark on white, whatever the page is")
			}
			for _, width := range []int{narrow, wide} {
				requireWhiteOnDark(t, screenshot(t, program, name, page, width), width)
			}
		})
	}
}

// pagesToLookAt are reports of all kinds, and one of names that nobody should use.
func pagesToLookAt(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, name := range resultstest.GoldenResults {
		r, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err)
		pages[strings.TrimSuffix(name, ".json")] = renderResult(t, r)
	}
	r, err := results.DecodeResult(resultstest.Golden(t, results.ResultFile))
	require.NoError(t, err)
	resultstest.ManyClasses(r, 26, func(i int) string { return fmt.Sprintf("a-label-without-any-break-%s-%d", strings.Repeat("x", 3*i), i) })
	pages["hard"] = renderResult(t, r)
	pages["script-with-files"] = scriptReport(t)
	return pages
}

func findBrowser(t *testing.T) string {
	t.Helper()
	program, err := browser.Find()
	if err != nil {
		t.Skip(err)
	}
	return program
}

// look opens a page that holds the report four times and returns what its script found.
func look(t *testing.T, program, page string) findings {
	t.Helper()
	var cards strings.Builder
	for _, ground := range []string{"light", "dark"} {
		for _, width := range []int{narrow, wide} {
			fmt.Fprintf(&cards, `<div class="ground %s"><div class="card" id="%s-%d" style="width:%dpx"></div></div>`, ground, ground, width, width)
		}
	}
	out, log := browse(t, program, fmt.Sprintf(host, cards.String(), page), "--dump-dom", "--window-size=1500,1000")
	require.NotContains(t, log, ":CONSOLE", "the browser's console")
	m := regexp.MustCompile(`(?s)<script id="findings" type="application/json">(.*?)</script>`).FindStringSubmatch(out)
	require.Len(t, m, 2, "the page wrote nothing down")
	var got findings
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(m[1])), &got))
	return got
}

// screenshot takes a picture of the report on a dark page. REPORT_SHOTS names a folder in which it is kept.
func screenshot(t *testing.T, program, name, page string, width int) image.Image {
	t.Helper()
	dir := t.TempDir()
	height := 1600
	if kept := os.Getenv("REPORT_SHOTS"); kept != "" {
		dir, height = kept, 5200
	}
	file := filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, width))
	card := fmt.Sprintf(`<style>#own{display:none}</style><div class="ground dark"><div class="card" style="width:%dpx"></div></div>`, width)
	browse(t, program, fmt.Sprintf(host, card, page), "--screenshot="+file, fmt.Sprintf("--window-size=%d,%d", width+20, height))
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(body))
	require.NoError(t, err)
	return picture
}

// requireWhiteOnDark checks the corners of the card and the page around it.
func requireWhiteOnDark(t *testing.T, picture image.Image, width int) {
	t.Helper()
	grey := func(x, y int) float64 {
		r, g, b, _ := picture.At(x, y).RGBA()
		return math.Round(float64(r+g+b) / 3 / 257)
	}
	require.Less(t, grey(4, 100), 40.0, "the page is dark")
	const most = 1180 // the report is no wider, and stands in the middle
	left := 10 + max(0, width-most)/2
	require.InDelta(t, 255, grey(left+3, 14), 1, "the report is white")
	require.InDelta(t, 255, grey(10+width-(left-10)-3, 14), 1, "the report is white")
}

// browse opens a page in a browser without a screen and returns its output and its log.
func browse(t *testing.T, program, page string, args ...string) (out, log string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "host.html")
	require.NoError(t, os.WriteFile(file, []byte(page), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), browserPatience)
	defer cancel()
	fixed := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--disable-dev-shm-usage",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--no-first-run", "--disable-extensions", "--disable-background-networking",
	}
	cmd := exec.CommandContext(ctx, program, append(append(fixed, args...), "file://"+file)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	return stdout.String(), stderr.String()
}
