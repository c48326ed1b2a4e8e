package edit

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// meanwhile lets work run when the room sends its next version of a file, before Clowder gets it: after the look at the newest version.
func (h *house) meanwhile(work func()) {
	h.t.Helper()
	var ran atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && !ran.Swap(true) {
			work()
		}
		h.clowder.ServeHTTP(w, r)
	}))
	client, err := clowder.NewClient(clowder.Config{URL: front.URL, Backoff: time.Millisecond, Cache: disk.Folder{Volume: h.t.TempDir(), Name: "cache"}})
	require.NoError(h.t, err)
	h.client = client
	h.t.Cleanup(func() {
		require.NoError(h.t, client.Close())
		front.Close()
	})
}

func TestAVersionThatCameBetweenTheLookAndTheSaveIsShown(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	tag := h.tag()
	h.meanwhile(func() { require.NoError(t, h.direct(bob, "epochs: 99\n")) })
	got := h.save(alice, tag, "epochs: 6\n")
	require.Equal(t, 200, got.status, got.body)
	require.EqualValues(t, 3, got.json["number"])
	require.NotContains(t, got.json, "same_number", "the other version has another number")
	other, _ := got.json["collision"].(map[string]any)
	require.Equal(t, []any{2.0, bob, "epochs: 99\n", true}, []any{other["number"], other["by"], other["text"], other["text_known"]})
	require.Equal(t, []string{"1 " + alice, "2 " + bob, "3 " + alice}, h.clowder.Versions(h.file))
	require.Equal(t, "epochs: 6\n", h.text(h.file))
}

func TestACollisionWithoutScript(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	const begin = "Saved as version 3. bob@example.org saved version 2 in Clowder in the same instant. "
	for name, c := range map[string]struct {
		theirs   string
		lost     bool // Clowder does not return their text
		notice   string
		content  string
		takesNow bool // the text that is shown can be saved as it is
	}{
		"changes of different lines": {
			theirs: "epochs: 5\ntraining:\n  seed: 7\n  weight_decay: 0.5\n", notice: begin + "Both are merged below: read it, then save.",
			content: "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.5\n", takesNow: true,
		},
		"changes of one line": {
			theirs: "epochs: 99\ntraining:\n  seed: 7\n  weight_decay: 0.1\n", notice: begin + "Both changed line 1: choose between the marks, then save.",
			content: "<<<<<<< mine\nepochs: 6\n=======\nepochs: 99\n>>>>>>> theirs\ntraining:\n  seed: 7\n  weight_decay: 0.1\n",
		},
		"a text that is lost": {
			theirs: "epochs: 99\n", lost: true, notice: begin + "Clowder no longer returns that text (11 B): ask its author.",
			content: "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.1\n", takesNow: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			base := strings.Trim(h.tag(), `"`)
			page := h.page("files", h.file)
			mine := "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.1\n"
			h.meanwhile(func() {
				require.NoError(t, h.direct(bob, c.theirs))
				if c.lost { // the room lists the versions, then it asks for the text of version 2
					h.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/files/" + h.file, Skip: 1, Times: 1, Status: 404})
				}
			})
			got := h.post(alice, page, "do", "save", "base", base, "text", mine)
			require.Equal(t, 200, got.status, got.body)
			require.Contains(t, got.body, c.notice)
			shown := strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(c.content)
			require.Contains(t, got.body, "\n"+shown+"</textarea>")
			newest := strings.Trim(h.tag(), `"`)
			require.Contains(t, got.body, `name="base" value="`+newest+`"`, "the next save comes after both")
			require.Equal(t, mine, h.text(h.file), "the text of the visitor is saved")

			again := h.post(alice, page, "do", "save", "base", newest, "text", c.content)
			if c.takesNow {
				require.Equal(t, 303, again.status, again.body)
				return
			}
			require.Equal(t, 422, again.status)
			require.Contains(t, again.body, "The text still has a conflict")
			require.Contains(t, again.body, shown, "the text is not lost")
		})
	}
}

func TestASaveThatNobodyCouldVerifySaysSo(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	tag := h.tag()
	h.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/versions", Status: 500})
	got := h.save(alice, tag, "epochs: 6\n")
	require.Equal(t, 502, got.status, got.body)
	require.Equal(t, "not-verified", got.json["type"])
	require.Equal(t, "Your text is version 2. Clowder did not say whether somebody else saved in the same instant.", got.json["detail"])
	require.Equal(t, "epochs: 6\n", h.text(h.file))
	page := h.post(alice, h.page("files", h.file), "do", "save", "base", strings.Trim(h.tag(), `"`), "text", "epochs: 8\r\n")
	require.Equal(t, 502, page.status)
	require.Contains(t, page.body, "Saved, but not verified: Your text is version 3.")
	require.Contains(t, page.body, "\nepochs: 8\n</textarea>")
}

func TestAFailedSaveIsNotRepeated(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	for name, c := range map[string]struct {
		fault  clowdertest.Fault
		work   func(*house)
		status int
		stored []string
	}{
		"somebody else saved before it failed": {
			clowdertest.Fault{Skip: 1, Status: 500},
			func(h *house) { require.NoError(h.t, h.direct(bob, "epochs: 99\n")) }, 412,
			[]string{"1 " + alice, "2 " + bob},
		},
		"somebody else saved the same text before it failed": {
			clowdertest.Fault{Skip: 1, Status: 500},
			func(h *house) { require.NoError(h.t, h.direct(bob, "epochs: 6\n")) }, 412,
			[]string{"1 " + alice, "2 " + bob},
		},
		"it was stored, but Clowder does not say so": {
			clowdertest.Fault{Status: 500, After: true}, func(h *house) {
				h.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/summary", Status: 500})
			}, 502, []string{"1 " + alice, "2 " + alice},
		},
		"Clowder refuses it": {
			clowdertest.Fault{Status: 403}, func(*house) {}, 403, []string{"1 " + alice},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			tag := h.tag()
			c.fault.Method, c.fault.Path, c.fault.Times = http.MethodPut, "/files/", 1
			h.clowder.Fail(c.fault)
			h.meanwhile(func() { c.work(h) })
			got := h.save(alice, tag, "epochs: 6\n")
			require.Equal(t, c.status, got.status, got.body)
			require.Equal(t, c.stored, h.clowder.Versions(h.file))
			if c.status == 412 {
				newest, _ := got.json["newest"].(map[string]any)
				require.Equal(t, []any{2.0, bob}, []any{newest["number"], newest["by"]})
			}
		})
	}
}

func TestAVisitorWhoGoesAwayLeavesNoSaveHalfDone(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newHouse(t)
	base := strings.Trim(h.tag(), `"`)
	window := h.room.presence.enter(h.file, h.visitor(bob, false), time.Now())
	ctx, goAway := context.WithCancel(t.Context())
	h.meanwhile(goAway)
	ctx = web.WithVisitor(ctx, h.visitor(alice, false))
	out, err := h.room.save(ctx, h.dataset, h.file, base, "epochs: 6\n")
	require.NoError(t, err)
	require.Equal(t, 2, out.Number)
	require.Equal(t, "epochs: 6\n", h.text(h.file))
	_, newest := h.room.presence.around(window)
	require.Equal(t, out.Saved, newest, "the other windows are told")
	_, err = h.room.save(ctx, h.dataset, h.file, out.Tag, "epochs: 7\n")
	require.ErrorIs(t, err, context.Canceled, "who is gone before a save begins saves nothing")
	require.Len(t, h.clowder.Versions(h.file), 2)
}
