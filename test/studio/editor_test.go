//go:build integration

package studio

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

const settings = "# Film reviews\nepochs: 5\nlearning_rate: 3e-4\n\ntraining:\n  seed: 7\n  weight_decay: 0.1\n"

// withSettings is a site whose dataset has a settings file; visitors have the token of Clowder's own page.
func withSettings(t *testing.T, o site.Options) (s *site.Site, file string) {
	t.Helper()
	o.Tokens = true
	s = site.New(t, o)
	file, err := s.Clowder.AddFile(s.Dataset, "finetune.yaml", strings.NewReader(settings))
	require.NoError(t, err)
	_, err = s.Clowder.AddFile(s.Dataset, "code/split.py", strings.NewReader("import csv\n\n\ndef split(rows):\n    return rows[:100], rows[100:]\n"))
	require.NoError(t, err)
	return s, file
}

func openFile(t *testing.T, s *site.Site, user, file string) *tab {
	t.Helper()
	b := openWith(t, s, []*http.Cookie{s.Token(user)}, "datasets/"+s.Dataset+"/files/"+file)
	b.until(`document.querySelector(".cm-content") !== null`)
	return b
}

// edit goes to the end of a line of the editor, removes so many characters and types.
func (b *tab) edit(line, remove int, typed string) {
	b.t.Helper()
	require.True(b.t, get[bool](b, fmt.Sprintf(`(() => {
		const line = document.querySelectorAll(".cm-line")[%[1]d];
		document.querySelector(".cm-content").focus();
		getSelection().selectAllChildren(line);
		getSelection().collapseToEnd();
		document.dispatchEvent(new Event("selectionchange")); // the browser sends it later, and the editor takes the selection with it
		return document.querySelectorAll(".cm-line")[%[1]d].classList.contains("cm-activeLine");
	})()`, line-1)))
	b.do(chromedp.KeyEvent(strings.Repeat("\b", remove) + typed))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	require.True(b.t, get[bool](b, `(() => { const e = document.querySelector(`+"`"+selector+"`"+`); e?.click(); return e !== null })()`), selector)
}

// says waits until the notices of the editor have a text.
func (b *tab) says(text string) {
	b.t.Helper()
	want, err := json.Marshal(text)
	require.NoError(b.t, err)
	b.until(`document.querySelector("[data-part=notices]").innerText.includes(` + string(want) + `)`)
}

const save = "button[value=save]"

func newest(t *testing.T, s *site.Site, file string) string {
	t.Helper()
	body, err := s.Clowder.ReadFile(file)
	require.NoError(t, err)
	return string(body)
}

func TestTwoPeopleEditOneFile(t *testing.T) {
	s, file := withSettings(t, site.Options{})
	alice, bob := openFile(t, s, site.Alice, file), openFile(t, s, site.Bob, file)
	alice.until(`document.querySelector("[data-part=presence]").innerText.includes("has this file open")`)
	require.Contains(t, alice.text("[data-part=presence]"), "bob")

	alice.edit(2, 1, "9")
	alice.click(save)
	alice.says("Saved as version 2.")
	bob.says("alice@example.org saved version 2 just now.")
	bob.edit(7, 3, "0.5")
	bob.click(save)
	bob.says("That change and yours are in different lines and are merged below: read it, then save.")
	bob.click(save)
	bob.says("Saved as version 3.")
	require.Equal(t, []string{"1 " + site.Alice, "2 " + site.Alice, "3 " + site.Bob}, s.Clowder.Versions(file))
	require.Equal(t, strings.NewReplacer("epochs: 5", "epochs: 9", "0.1", "0.5").Replace(settings), newest(t, s, file))
}

func TestBothChangeOneLine(t *testing.T) {
	for name, c := range map[string]struct{ button, want string }{
		"the line of the other person": {"Take the lines of alice@example.org", "epochs: 11\n"},
		"my line":                      {"Keep mine", "epochs: 22\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, file := withSettings(t, site.Options{})
			alice, bob := openFile(t, s, site.Alice, file), openFile(t, s, site.Bob, file)
			alice.edit(2, 1, "11")
			alice.click(save)
			alice.says("Saved as version 2.")
			bob.edit(2, 1, "22")
			bob.click(save)
			bob.says("alice@example.org saved version 2 while you were writing. Both changed line 2: choose, then save.")
			bob.click(save)
			bob.says("Choose a side for line 2 first.")
			require.True(t, get[bool](bob, `(() => { const b = [...document.querySelectorAll(".conflicts button")].find((b) => b.textContent === `+"`"+c.button+"`"+`); b?.click(); return b !== undefined })()`))
			bob.click(save)
			bob.until(`/(Saved as|Nothing to save)/.test(document.querySelector("[data-part=notices]").innerText)`)
			require.Contains(t, newest(t, s, file), c.want)
		})
	}
}

func TestADraftSurvives(t *testing.T) {
	s, file := withSettings(t, site.Options{})
	b := openFile(t, s, site.Alice, file)
	b.edit(2, 1, "8")
	b.until(`localStorage.length === 1`)
	key, draft := get[string](b, `localStorage.key(0)`), get[string](b, `localStorage.getItem(localStorage.key(0))`)
	b = openFile(t, s, site.Alice, file) // as after a crash; a person who leaves is asked first
	require.Empty(t, get[string](b, `localStorage.setItem(`+strconv.Quote(key)+`, `+strconv.Quote(draft)+`) ?? ""`))
	b.do(chromedp.Navigate(s.URL + "/datasets/" + s.Dataset + "/files/" + file))
	b.says("You have unsaved text from")
	b.click("[data-part=notices] button")
	b.until(`document.querySelector(".cm-content").innerText.includes("epochs: 8")`)
	b.click(save)
	b.says("Saved as version 2.")
	b.until(`localStorage.length === 0`)
}

// TestTwentySavesAtOnce sends saves with one If-Match, while somebody saves through Clowder itself.
func TestTwentySavesAtOnce(t *testing.T) {
	s, file := withSettings(t, site.Options{})
	address := s.URL + "/api/v1/datasets/" + s.Dataset + "/files/" + file
	call := func(user, method, tag, text string) (int, http.Header, map[string]any) {
		body, _ := json.Marshal(map[string]string{"text": text})
		req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(string(body)))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+s.Clowder.Token(user))
		req.Header.Set("Content-Type", "application/json")
		if tag != "" {
			req.Header.Set("If-Match", tag)
		}
		answer, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		said, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		var found map[string]any
		require.NoError(t, json.Unmarshal(said, &found), string(said))
		return answer.StatusCode, answer.Header, found
	}
	for round := range 2 {
		_, header, _ := call(site.Alice, http.MethodGet, "", "")
		tag := header.Get("ETag")
		count := make(map[int]int)
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				status, _, _ := call([]string{site.Alice, site.Bob}[i%2], http.MethodPut, tag, fmt.Sprintf("seed: %d%02d\n", round, i))
				mu.Lock()
				defer mu.Unlock()
				count[status]++
			})
		}
		group.Wait()
		require.Equal(t, map[int]int{200: 1, 412: 19}, count)
	}
	require.Len(t, s.Clowder.Versions(file), 3, "one for each round")

	_, header, _ := call(site.Alice, http.MethodGet, "", "")
	s.Clowder.RaceUpdates(2, false)
	client, err := clowder.NewClient(clowder.Config{URL: s.Clowder.URL})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	direct := client.Bearer(job.Secret(s.Clowder.Token(site.Bob)))
	state, err := direct.FileState(t.Context(), file)
	require.NoError(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		_, err := direct.Update(t.Context(), state, []byte("seed: 4\n"))
		require.NoError(t, err)
	})
	status, _, saved := call(site.Alice, http.MethodPut, header.Get("ETag"), "seed: 5\n")
	require.Equal(t, 200, status, saved)
	group.Wait()
	b := openWith(t, s, []*http.Cookie{s.Token(site.Alice)}, "datasets/"+s.Dataset+"/files/"+file+"/versions")
	require.Contains(t, b.text("main"), "Two people saved in the same instant")
	if saved["collision"] == nil {
		require.Equal(t, "4 "+site.Bob, s.Clowder.Versions(file)[4], "it came after the look")
	}
}

func TestACheckedFileTrains(t *testing.T) {
	s, file := withSettings(t, site.Options{AMQPURI: broker.ForTest(t).Vhost(t)})
	b := openFile(t, s, site.Bob, file)
	b.edit(6, 7, "sede: 7")
	b.click("button[value=check]")
	b.until(`document.querySelector("[data-part=findings]").innerText.includes("line 6, column 3 There is no option sede: do you mean seed?")`)
	b.until(`document.querySelector(".cm-lintRange-warning")?.textContent === "sede"`)
	b.edit(6, 7, "seed: 8")
	b.until(`document.querySelector("[data-part=findings]").innerText.includes("No problem found")`)
	b.edit(3, 0, "\repo")
	b.until(`[...document.querySelectorAll(".cm-tooltip-autocomplete li")].some((li) => li.innerText.startsWith("epochs"))`)
	b.do(chromedp.KeyEvent("\b\b\b\b"))
	b.until(`!document.querySelector(".cm-content").innerText.includes("epo\n")`)
	b.edit(2, 1, "400")
	b.click("button[value=train]")
	b.says("Saved as version 2. No training was started: line 2 has an error. Correct it, then press Save and train again.")
	b.until(`document.querySelector(".cm-lintRange-error")?.textContent === "400"`)
	require.Contains(t, b.text("[data-part=findings]"), "epochs must be a whole number from 1 to 200, not 400.")
	require.Equal(t, "400", get[string](b, `getSelection().toString()`), "the cursor is at the mistake")
	require.Contains(t, newest(t, s, file), "epochs: 400")
	require.Empty(t, s.Clowder.Jobs())
	b.edit(2, 3, "4")
	b.click("button[value=train]")
	b.until(`location.pathname.includes("/runs/ft-")`)
	require.Contains(t, newest(t, s, file), "seed: 8")
	jobs := s.Clowder.Jobs()
	require.Len(t, jobs, 1)
	require.Equal(t, []string{"1 " + site.Alice, "2 " + site.Bob, "3 " + site.Bob}, s.Clowder.Versions(file))
}

func TestACheckThatFailedIsMadeAgainWithTheSameText(t *testing.T) {
	s, file := withSettings(t, site.Options{})
	b := openFile(t, s, site.Bob, file)
	b.until(`document.querySelector("[data-part=findings]").innerText.includes("No problem found")`)
	require.True(t, get[bool](b, `window.kept = window.fetch, window.fetch = () => Promise.reject(new TypeError("offline")), true`))
	b.click("button[value=check]")
	b.says("The studio does not answer.")
	require.True(t, get[bool](b, `window.fetch = window.kept, document.querySelector("[data-part=findings]").replaceChildren(), true`))
	b.click("button[value=check]")
	b.until(`document.querySelector("[data-part=findings]").innerText.includes("No problem found")`)
}

func TestAKeySavesCopiesOnly(t *testing.T) {
	s, file := withSettings(t, site.Options{})
	b := open(t, s, site.Alice, "datasets/"+s.Dataset+"/files/"+file)
	b.until(`document.querySelector(".cm-content") !== null`)
	require.Contains(t, b.text("main"), "Read only: Clowder takes new versions only from a login with its Keycloak.")
	require.False(t, get[bool](b, `document.querySelector("`+save+`") !== null`))
	b.click("button[value=copy]")
	b.until(`document.querySelector("h1")?.innerText === "finetune-copy.yaml"`)
}

// TestPagesOfFiles looks at the pages of files as TestPages does, with nothing that the policy of the page forbids.
func TestPagesOfFiles(t *testing.T) {
	s, file := withSettings(t, site.Options{})
	conflict := openFile(t, s, site.Bob, file)
	first := openFile(t, s, site.Alice, file)
	first.edit(2, 1, "11")
	first.click(save)
	first.says("Saved as version 2.")
	conflict.edit(2, 1, "22")
	conflict.click(save)
	conflict.says("Both changed line 2")
	tabs := map[string]*tab{
		"conflict": conflict, "editor": openFile(t, s, site.Alice, file), "editor-error": openFile(t, s, site.Alice, file),
		"files":   openWith(t, s, []*http.Cookie{s.Token(site.Alice)}, "datasets/"+s.Dataset+"/files"),
		"history": openWith(t, s, []*http.Cookie{s.Token(site.Alice)}, "datasets/"+s.Dataset+"/files/"+file+"/versions"),
	}
	tabs["editor-error"].edit(2, 2, "400")
	tabs["editor-error"].click("button[value=train]")
	tabs["editor-error"].says("No training was started: line 2 has an error.")
	tabs["editor"].edit(6, 7, "sede: 7")
	tabs["editor"].until(`document.querySelector("[data-part=findings]").innerText.includes("sede")`)
	folder := os.Getenv("STUDIO_PICTURES")
	for _, name := range slices.Sorted(maps.Keys(tabs)) {
		b := tabs[name]
		for _, v := range views {
			b.look(v.width, 1000, v.theme)
			require.LessOrEqual(t, get[int64](b, "document.documentElement.scrollWidth"), v.width, "%s: nothing scrolls sideways at %d px", name, v.width)
			if folder == "" {
				continue
			}
			picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, v.width, v.theme)), picture, 0o600))
		}
	}
}
