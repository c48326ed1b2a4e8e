package edit

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded answers a form without a connection: a server that refuses a long body can end the connection before its client has sent it.
func (h *house) recorded(path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(h.t.Context(), http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("As", alice)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.server.Config.Handler.ServeHTTP(w, req)
	return w
}

func TestAFormThatCannotBeReadSavesNothing(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	page := h.page("files", h.file)
	start := "do=save&base=" + strings.Trim(h.tag(), `"`) + "&text="
	large := h.recorded(page, start+strings.Repeat("x", maxForm))
	require.Equal(t, 413, large.Code)
	require.Contains(t, large.Body.String(), "It is larger than 1 MB.")
	require.Contains(t, large.Body.String(), "Go back, make it shorter, or upload it in Clowder.")
	broken := h.recorded(page, start+"%zz")
	require.Equal(t, 400, broken.Code)
	require.Contains(t, broken.Body.String(), "This is no form")
	require.Equal(t, []string{"1 " + alice}, h.clowder.Versions(h.file))

	right := h.recorded(page, start+strings.Repeat("%0D%0A", maxText))
	require.Equal(t, 303, right.Code, "1 MB of line ends is 6 MB of a form")
	require.Len(t, h.text(h.file), maxText)
}

func TestAFileKeepsTheLineEndsThatItHas(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	for name, c := range map[string]struct{ before, posted, after string }{
		"as on Windows":             {"a: 1\r\nb: 2\r\n", "a: 1\r\nb: 3\r\n", "a: 1\r\nb: 3\r\n"},
		"as on Windows, now in one": {"a: 1\r\nb: 2\r\n", "a: 1", "a: 1"},
		"as on Linux":               {"a: 1\nb: 2\n", "a: 1\r\nb: 3\r\n", "a: 1\nb: 3\n"},
		"both":                      {"a: 1\r\nb: 2\n", "a: 1\r\nb: 3\r\n", "a: 1\r\nb: 3\r\n"},
		"blank lines at its begin":  {"\n\na: 1\n", "\r\n\r\na: 2\r\n", "\n\na: 2\n"},
		"none at its end":           {"a: 1\nb: 2", "a: 1\r\nb: 3", "a: 1\nb: 3"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.file = h.add("lines.yaml", c.before)
			page := h.page("files", h.file)
			opened := h.do(bob, http.MethodGet, page, "")
			require.Contains(t, opened.body, ">\n"+c.before+"</textarea>", "a browser drops the first line end of the field")
			require.Equal(t, strings.Contains(c.before, "\r\n"), strings.Contains(opened.body, `data-windows="yes"`))
			saved := h.post(bob, page, "do", "save", "base", strings.Trim(h.tag(), `"`), "text", c.posted)
			require.Equal(t, 303, saved.status, saved.body)
			require.Equal(t, c.after, h.text(h.file))
		})
	}
	h := newHouse(t)
	h.file = h.add("windows.yaml", "a: 1\r\n")
	same := h.post(bob, h.page("files", h.file), "do", "save", "base", strings.Trim(h.tag(), `"`), "text", "a: 1\r\n")
	require.Equal(t, "/ray"+h.page("files", h.file)+"?same=1", same.header.Get("Location"), "the line ends of a browser are no change")
}

func TestThePageSaysWhatBecameOfTheForm(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	h.file = h.add("notes.md", "x\n")
	page := h.page("files", h.file)
	const flash = `data-part="first-notice"`
	for query, want := range map[string]string{
		"saved=1": "✓</span> Saved as version 1.", "same=1": "✓</span> Nothing to save: this is the text of version 1.",
		"copy=1": "✓</span> This is your copy.", "new=1": "✓</span> The file is in the dataset now.",
	} {
		require.Contains(t, h.do(bob, http.MethodGet, page+"?"+query, "").body, want, query)
	}
	for _, query := range []string{"saved=2", "saved=", "saved=%3Cscript%3E", "other=1"} {
		body := h.do(bob, http.MethodGet, page+"?"+query, "").body
		require.NotContains(t, body, flash, "an old address tells of no save that is not the newest: "+query)
	}
}

func TestATextIsNotLostWhenItsFormIsRefused(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	page, base := h.page("files", h.file), strings.Trim(h.tag(), `"`)
	const mine, shown = "a: </textarea><b>\r\n", "\na: &lt;/textarea&gt;&lt;b&gt;\n</textarea>"
	for name, c := range map[string]struct {
		who    string
		fields []string
		status int
		notice string
	}{
		"a viewer saves": {
			carol,
			[]string{"do", "save", "base", base, "text", mine},
			403,
			"Your role does not allow this: You are viewer of this dataset; this needs the role editor.",
		},
		"an uploader saves": {
			erin,
			[]string{"do", "train", "base", base, "text", mine},
			403,
			"Your role does not allow this: You are uploader of this dataset; this needs the role editor.",
		},
		"a viewer copies": {
			carol, []string{"do", "copy", "base", base, "text", mine}, 403, "You are viewer of this dataset; this needs the role uploader.",
		},
		"a save without its version": {
			bob, []string{"do", "save", "text", mine}, 428, "Which version did you change?: A save must name the version that its text came from.",
		},
		"a save without a known verb": {bob, []string{"do", "jump", "text", mine}, 428, "Which version did you change?"},
		"a text with a zero": {
			bob,
			[]string{"do", "save", "base", base, "text", "\x00" + mine},
			422,
			"This text cannot be saved: This file is not text. Remove what is no text, then save again.",
		},
	} {
		got := h.post(c.who, page, c.fields...)
		require.Equal(t, c.status, got.status, name)
		require.Contains(t, got.body, c.notice, name)
		if !strings.HasPrefix(c.fields[len(c.fields)-1], "\x00") {
			require.Contains(t, got.body, shown, name)
		}
	}
	require.Equal(t, 404, h.post(dave, page, "do", "save", "base", base, "text", mine).status)
	require.Len(t, h.clowder.Versions(h.file), 1)
}

func TestNoMoreThanTwentyCopiesOfAFileAreNamed(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	h.add("finetune-copy.yaml", "x")
	for n := 2; n <= maxCopies; n++ {
		h.add("finetune-copy-"+strconv.Itoa(n)+".yaml", "x")
	}
	got := h.post(alice, h.page("files", h.file), "do", "copy", "text", "epochs: 8\n")
	require.Equal(t, 409, got.status)
	require.Contains(t, got.body, "The dataset has a file &#34;finetune-copy-20.yaml&#34; already.")
	require.Contains(t, got.body, "\nepochs: 8\n</textarea>")
}

// moody is a training service with one answer to everything.
type moody struct {
	last map[string]any
	err  error
}

func (m moody) Train(context.Context, string, string, string) (string, error) { return "", m.err }

func (m moody) LastSettings(context.Context, string) (map[string]any, error) { return m.last, m.err }

func TestASaveStandsWhenItsTrainingDoesNotStart(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	page := h.page("files", h.file)
	h.room.trainings = moody{err: errors.New("the queue of rabbit:5672 is away")}
	got := h.post(bob, page, "do", "train", "base", strings.Trim(h.tag(), `"`), "text", "epochs: 6\n", "key", "k")
	require.Equal(t, 500, got.status, got.body)
	require.NotContains(t, got.body, "rabbit", "the cause is for the log")
	require.Equal(t, "epochs: 6\n", h.text(h.file))
	require.Equal(t, 500, h.post(bob, h.page("files"), "do", "settings").status)

	h.room.trainings = nil
	require.NotContains(t, h.do(bob, http.MethodGet, page, "").body, "Save and train")
	got = h.post(bob, page, "do", "train", "base", strings.Trim(h.tag(), `"`), "text", "epochs: 900\n", "key", "k")
	require.Equal(t, "/ray"+page+"?saved=3", got.header.Get("Location"), "without trainings the button saves")
}

func TestNewSettingsAreMadeOnceInADataset(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	require.Equal(t, 409, h.post(alice, h.page("files"), "do", "settings").status, "there are settings already")
	h.dataset = h.clowder.AddDataset(alice, "a <new> one")
	h.clowder.Share(h.dataset, carol, "viewer")
	empty := h.do(carol, http.MethodGet, h.page("files"), "").body
	require.Contains(t, empty, "No settings and no code here yet. A training needs none.</p>")
	require.Contains(t, empty, "You are viewer of this dataset. To add files, ask an owner for the role uploader.")
	require.Contains(t, empty, "a &lt;new&gt; one")
	require.Equal(t, 403, h.post(carol, h.page("files"), "do", "settings").status)
	require.Contains(t, h.do(alice, http.MethodGet, h.page("files"), "").body, "<button class=\"primary\">New finetune.yaml</button>")

	made := h.post(alice, h.page("files"), "do", "settings", "name", "ignored.txt")
	require.Equal(t, 303, made.status, made.body)
	address := strings.TrimPrefix(made.header.Get("Location"), "/ray")
	opened := h.do(alice, http.MethodGet, address, "").body
	require.Contains(t, opened, "The file is in the dataset now.")
	require.Contains(t, opened, "\ntask: text-classification\nepochs: 5\n")
	require.NotContains(t, h.do(alice, http.MethodGet, h.page("files"), "").body, "New finetune.yaml")
	require.Equal(t, 409, h.post(alice, h.page("files"), "do", "settings").status)
}
