//go:build integration

package studio

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/studio/site"
)

// focused is what has the focus: its tag, its words, whether a person sees that it has the focus, and whether the keys Enter and Space work on
// it without a script of ours.
type focused struct {
	Tag, Text    string
	Seen, Native bool
}

// look asks for the focus. The editor draws its ring around the whole text.
const lookAtFocus = `(() => {
	const e = document.activeElement;
	if (e === null || e === document.body) return { Tag: "BODY" };
	(window.reached ??= new Set()).add(e);
	const ring = e.closest(".cm-editor.cm-focused") ?? e, s = getComputedStyle(ring), r = e.getBoundingClientRect();
	return {
		Tag: e.tagName,
		Text: (e.getAttribute("aria-label") || e.labels?.[0]?.childNodes[0].textContent || e.innerText || e.tagName).replace(/\s+/g, " ").trim(),
		Seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && r.width > 0 && r.height > 0 && r.bottom > 0 && r.top < innerHeight,
		Native: e.matches("a[href], button, input, select, textarea, summary, iframe, .cm-content, pre, [role=region], [role=log], [role=application], .scroll, .live-chart [tabindex]"),
	};
})()`

// missed are the controls of the page that had no focus so far.
const missed = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0'], [contenteditable=true], [onclick]")]
	.filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: false }) && !e.disabled && e.tabIndex >= 0 && !window.reached.has(e) && e.closest("[inert]") === null)
	.map((e) => e.outerHTML.slice(0, 120))`

// next presses the key Tab. The editor is left by Esc and then Tab; where it completes a word, one more Esc ends that before.
func (b *tab) next() focused {
	b.t.Helper()
	keys := "\t"
	if get[bool](b, `document.activeElement?.closest(".cm-content") != null`) {
		keys = "\x1b\x1b\t"
	}
	b.do(chromedp.KeyEvent(keys))
	if get[bool](b, `document.activeElement?.closest(".cm-content") != null`) {
		b.until(`document.querySelector(".cm-editor.cm-focused") !== null`) // the editor draws its ring a moment later
	}
	return get[focused](b, lookAtFocus)
}

// mostKeys is how often Tab is pressed in a page.
const mostKeys = 120

// walk goes through a page with the key Tab until the focus leaves it, and returns the words of what it has reached. Everything that can be used
// is reached, and what has the focus can be seen.
func (b *tab) walk() (reached []string) {
	b.t.Helper()
	get[bool](b, `(document.activeElement?.blur(), document.querySelectorAll("details").forEach((d) => d.open = true), window.reached = new Set(), true)`)
	for range mostKeys {
		at := b.next()
		if at.Tag == "BODY" {
			require.Empty(b.t, get[[]string](b, missed), "not reached")
			return reached
		}
		require.True(b.t, at.Seen, "the focus on %s %q cannot be seen", at.Tag, at.Text)
		require.True(b.t, at.Native, "the keys do nothing on %s %q", at.Tag, at.Text)
		reached = append(reached, at.Text)
	}
	require.Fail(b.t, "the focus goes in a circle", "%q", reached)
	return nil
}

// tabTo presses Tab until something with these words has the focus.
func (b *tab) tabTo(words string) {
	b.t.Helper()
	var passed []string
	for range mostKeys {
		at := b.next()
		if strings.HasPrefix(at.Text, words) {
			return
		}
		passed = append(passed, at.Text)
	}
	require.Fail(b.t, "no such control", "%s is not among %q", words, passed)
}

func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// TestPagesByKeyboard walks through the pages with the key Tab alone, and uses them with Enter and Space.
func TestPagesByKeyboard(t *testing.T) {
	t.Parallel()
	s, file := withSettings(t, site.Options{})
	s.Fill(t)
	b := openWith(t, s, []*http.Cookie{s.Token(site.Alice)}, "runs/ft-k3vr7now2ninghalfway")
	t.Run("every control is reached and seen", func(t *testing.T) {
		b.t = t
		for _, c := range []struct {
			page, ready string
			has         []string
		}{
			{"runs/ft-k3vr7now2ninghalfway", `document.querySelectorAll(".live-chart canvas").length === 2`, []string{"Runs", "Log out", "Stop and keep", "Cancel", "Smooth", "Download the log"}},
			{"runs/ft-b2kq91xav5tuw3jz4rme", "true", []string{"Open the report", "Try the model", "Run again with changes"}},
			{"datasets/" + s.Dataset + "/runs", "true", []string{"Train", "State", "Find", "Show", "stars-lr3e-4", "Compare"}},
			{"compare?run=ft-yigcyhzk4mhq2nof7l3a&run=ft-b2kq91xav5tuw3jz4rme", "true", []string{"slower"}},
			{"datasets/" + s.Dataset + "/models", "true", []string{"reviews"}},
			{"models/" + s.Dataset + "/reviews", "true", []string{"Make champion reviews/2", "Download reviews/3", "Serve reviews/3"}},
			{"models/" + s.Dataset + "/reviews/3/serve", "true", []string{"KServe", "Ray Serve"}},
			{"datasets/" + s.Dataset + "/train", "true", []string{"Train"}},
			{"datasets/" + s.Dataset + "/files/" + file + "/versions", "true", nil},
			{"datasets/" + s.Dataset + "/files/" + file, `document.querySelector(".cm-content") !== null`, []string{"Text of finetune.yaml", "History", "Check", "Save", "Save and train"}},
		} {
			b.do(chromedp.Navigate(s.URL + "/" + c.page))
			b.until(c.ready)
			reached := b.walk()
			require.Equal(t, "Skip to the content", reached[0], c.page)
			for _, name := range c.has {
				require.Contains(t, strings.Join(reached, "\n"), name, c.page)
			}
		}
	})
	t.Run("runs are compared", func(t *testing.T) {
		b.t = t
		b.do(chromedp.Navigate(s.URL + "/datasets/" + s.Dataset + "/runs"))
		b.tabTo("State")
		b.press("done")
		b.tabTo("Find")
		b.press("s\r")
		b.until(`location.search.includes("state=done")`)
		for _, run := range []string{"stars-lr3e-4", "slower"} {
			b.tabTo("Compare " + run) // the box before the run
			b.press(" ")
		}
		b.tabTo("Compare the ticked runs")
		b.press("\r")
		b.until(`document.querySelector("h1")?.innerText === "Compare 2 runs"`)
	})
	t.Run("a text is edited, checked and saved", func(t *testing.T) {
		b.t = t
		b.do(chromedp.Navigate(s.URL + "/datasets/" + s.Dataset + "/files/" + file))
		b.until(`document.querySelector(".cm-content") !== null`)
		b.tabTo("Text of finetune.yaml")
		b.press("epochs: 400\r")
		b.tabTo("Check")
		b.press("\r")
		b.tabTo("✕ Error, line 1")
		b.press("\r")
		b.until(`getSelection().toString() === "400"`)
		b.press("4")
		b.tabTo("Save")
		b.press(" ")
		b.says("Saved as version 2.")
		require.True(t, strings.HasPrefix(newest(t, s, file), "epochs: 4\n"), newest(t, s, file))
	})
	t.Run("a version becomes the champion", func(t *testing.T) {
		b.t = t
		b.do(chromedp.Navigate(s.URL + "/models/" + s.Dataset + "/reviews"))
		b.tabTo("Make champion reviews/2")
		b.press("\r")
		b.until(`document.querySelector("h1")?.innerText === "Make reviews/2 the champion?"`)
		b.tabTo("Make champion")
		b.press(" ")
		b.until(`document.querySelector(".champion")?.innerText.includes("reviews/2")`)
	})
}
