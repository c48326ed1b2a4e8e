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
func (f *fixture) recorded(path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(f.t.Context(), http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("As", alice)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	f.server.Config.Handler.ServeHTTP(w, req)
	return w
}

func TestAFormThatCannotBeReadSavesNothing(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page := f.page("files", f.file)
	start := "do=save&base=" + strings.Trim(f.tag(), `"`) + "&text="
	large := f.recorded(page, start+strings.Repeat("x", maxForm))
	require.Equal(t, 413, large.Code)
	require.Contains(t, large.Body.String(), "It is larger than 1 MB.")
	require.Contains(t, large.Body.String(), "Go back, make it shorter, or upload it in Clowder.")
	broken := f.recorded(page, start+"%zz")
	require.Equal(t, 400, broken.Code)
	require.Contains(t, broken.Body.String(), "This is no form")
	require.Equal(t, []string{"1 " + alice}, f.clowder.Versions(f.file))

	right := f.recorded(page, start+strings.Repeat("%0D%0A", maxText))
	require.Equal(t, 303, right.Code, "1 MB of line ends is 6 MB of a form")
	require.Len(t, f.text(f.file), maxText)
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
			f := newFixture(t)
			f.file = f.add("lines.yaml", c.before)
			page := f.page("files", f.file)
			opened := f.do(bob, http.MethodGet, page, "")
			require.Contains(t, opened.body, ">\n"+c.before+"</textarea>", "a browser drops the first line end of the field")
			require.Equal(t, strings.Contains(c.before, "\r\n"), strings.Contains(opened.body, `data-windows="yes"`))
			saved := f.post(bob, page, "do", "save", "base", strings.Trim(f.tag(), `"`), "text", c.posted)
			require.Equal(t, 303, saved.status, saved.body)
			require.Equal(t, c.after, f.text(f.file))
		})
	}
	f := newFixture(t)
	f.file = f.add("windows.yaml", "a: 1\r\n")
	same := f.post(bob, f.page("files", f.file), "do", "save", "base", strings.Trim(f.tag(), `"`), "text", "a: 1\r\n")
	require.Equal(t, "/ray"+f.page("files", f.file)+"?same=1", same.header.Get("Location"), "the line ends of a browser are no change")
}

func TestThePageSaysWhatBecameOfTheForm(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.file = f.add("notes.md", "x\n")
	page := f.page("files", f.file)
	const flash = `data-part="first-notice"`
	for query, want := range map[string]string{
		"saved=1": "✓</span> Saved as version 1.", "same=1": "✓</span> Nothing to save: this is the text of version 1.",
		"copy=1": "✓</span> This is your copy.", "new=1": "✓</span> The file is in the dataset now.",
	} {
		require.Contains(t, f.do(bob, http.MethodGet, page+"?"+query, "").body, want, query)
	}
	for _, query := range []string{"saved=2", "saved=", "saved=%3Cscript%3E", "other=1"} {
		body := f.do(bob, http.MethodGet, page+"?"+query, "").body
		require.NotContains(t, body, flash, "an old address tells of no save that is not the newest: "+query)
	}
}

func TestATextIsNotLostWhenItsFormIsRefused(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page, base := f.page("files", f.file), strings.Trim(f.tag(), `"`)
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
		got := f.post(c.who, page, c.fields...)
		require.Equal(t, c.status, got.status, name)
		require.Contains(t, got.body, c.notice, name)
		if !strings.HasPrefix(c.fields[len(c.fields)-1], "\x00") {
			require.Contains(t, got.body, shown, name)
		}
	}
	require.Equal(t, 404, f.post(dave, page, "do", "save", "base", base, "text", mine).status)
	require.Len(t, f.clowder.Versions(f.file), 1)
}

func TestNoMoreThanTwentyCopiesOfAFileAreNamed(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.add("finetune-copy.yaml", "x")
	for n := 2; n <= maxCopies; n++ {
		f.add("finetune-copy-"+strconv.Itoa(n)+".yaml", "x")
	}
	got := f.post(alice, f.page("files", f.file), "do", "copy", "text", "epochs: 8\n")
	require.Equal(t, 409, got.status)
	require.Contains(t, got.body, "The dataset has a file &#34;finetune-copy-20.yaml&#34; already.")
	require.Contains(t, got.body, "\nepochs: 8\n</textarea>")
}

// cannedTrainings is a training service with one answer to everything.
type cannedTrainings struct {
	last map[string]any
	err  error
}

func (m cannedTrainings) Train(context.Context, string, string, string) (string, error) {
	return "", m.err
}

func (m cannedTrainings) LastSettings(context.Context, string) (map[string]any, error) {
	return m.last, m.err
}

func TestASaveStandsWhenItsTrainingDoesNotStart(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page := f.page("files", f.file)
	f.section.trainings = cannedTrainings{err: errors.New("the queue of rabbit:5672 is away")}
	got := f.post(bob, page, "do", "train", "base", strings.Trim(f.tag(), `"`), "text", "epochs: 6\n", "key", "k")
	require.Equal(t, 500, got.status, got.body)
	require.NotContains(t, got.body, "rabbit", "the cause is for the log")
	require.Equal(t, "epochs: 6\n", f.text(f.file))
	require.Equal(t, 500, f.post(bob, f.page("files"), "do", "settings").status)

	f.section.trainings = nil
	require.NotContains(t, f.do(bob, http.MethodGet, page, "").body, "Save and train")
	got = f.post(bob, page, "do", "train", "base", strings.Trim(f.tag(), `"`), "text", "epochs: 900\n", "key", "k")
	require.Equal(t, "/ray"+page+"?saved=3", got.header.Get("Location"), "without trainings the button saves")
}

func TestNewSettingsAreMadeOnceInADataset(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	require.Equal(t, 409, f.post(alice, f.page("files"), "do", "settings").status, "there are settings already")
	f.dataset = f.clowder.AddDataset(alice, "a <new> one")
	f.clowder.Share(f.dataset, carol, "viewer")
	empty := f.do(carol, http.MethodGet, f.page("files"), "").body
	require.Contains(t, empty, "No settings and no code here yet. A training needs none.</p>")
	require.Contains(t, empty, "You are viewer of this dataset. To add files, ask an owner for the role uploader.")
	require.Contains(t, empty, "a &lt;new&gt; one")
	require.Equal(t, 403, f.post(carol, f.page("files"), "do", "settings").status)
	require.Contains(t, f.do(alice, http.MethodGet, f.page("files"), "").body, "<button class=\"primary\">New finetune.yaml</button>")

	made := f.post(alice, f.page("files"), "do", "settings", "name", "ignored.txt")
	require.Equal(t, 303, made.status, made.body)
	address := strings.TrimPrefix(made.header.Get("Location"), "/ray")
	opened := f.do(alice, http.MethodGet, address, "").body
	require.Contains(t, opened, "The file is in the dataset now.")
	require.Contains(t, opened, "\ntask: text-classification\nepochs: 5\n")
	require.NotContains(t, f.do(alice, http.MethodGet, f.page("files"), "").body, "New finetune.yaml")
	require.Equal(t, 409, f.post(alice, f.page("files"), "do", "settings").status)
}
