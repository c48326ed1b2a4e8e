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

// meanwhile lets work run when the section sends its next version of a file, before Clowder gets it: after the look at the newest version.
func (f *fixture) meanwhile(work func()) {
	f.t.Helper()
	var ran atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && !ran.Swap(true) {
			work()
		}
		f.clowder.ServeHTTP(w, r)
	}))
	client, err := clowder.NewClient(clowder.Config{URL: front.URL, Backoff: time.Millisecond, Cache: disk.Folder{Volume: f.t.TempDir(), Name: "cache"}})
	require.NoError(f.t, err)
	f.client = client
	f.t.Cleanup(func() {
		require.NoError(f.t, client.Close())
		front.Close()
	})
}

func TestAVersionThatCameBetweenTheLookAndTheSaveIsShown(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	tag := f.tag()
	f.meanwhile(func() { require.NoError(t, f.direct(bob, "epochs: 99\n")) })
	got := f.save(alice, tag, "epochs: 6\n")
	require.Equal(t, 200, got.status, got.body)
	require.EqualValues(t, 3, got.json["number"])
	require.NotContains(t, got.json, "same_number", "the other version has another number")
	other, _ := got.json["collision"].(map[string]any)
	require.Equal(t, []any{2.0, bob, "epochs: 99\n", true}, []any{other["number"], other["by"], other["text"], other["text_known"]})
	require.Equal(t, []string{"1 " + alice, "2 " + bob, "3 " + alice}, f.clowder.Versions(f.file))
	require.Equal(t, "epochs: 6\n", f.text(f.file))
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
			f := newFixture(t)
			base := strings.Trim(f.tag(), `"`)
			page := f.page("files", f.file)
			mine := "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.1\n"
			f.meanwhile(func() {
				require.NoError(t, f.direct(bob, c.theirs))
				if c.lost { // the section lists the versions, then it asks for the text of version 2
					f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/files/" + f.file, Skip: 1, Times: 1, Status: 404})
				}
			})
			got := f.post(alice, page, "do", "save", "base", base, "text", mine)
			require.Equal(t, 200, got.status, got.body)
			require.Contains(t, got.body, c.notice)
			shown := strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(c.content)
			require.Contains(t, got.body, "\n"+shown+"</textarea>")
			newest := strings.Trim(f.tag(), `"`)
			require.Contains(t, got.body, `name="base" value="`+newest+`"`, "the next save comes after both")
			require.Equal(t, mine, f.text(f.file), "the text of the visitor is saved")

			again := f.post(alice, page, "do", "save", "base", newest, "text", c.content)
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
	f := newFixture(t)
	tag := f.tag()
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/versions", Status: 500})
	got := f.save(alice, tag, "epochs: 6\n")
	require.Equal(t, 502, got.status, got.body)
	require.Equal(t, "not-verified", got.json["type"])
	require.Equal(t, "Your text is version 2. Clowder did not say whether somebody else saved in the same instant.", got.json["detail"])
	require.Equal(t, "epochs: 6\n", f.text(f.file))
	page := f.post(alice, f.page("files", f.file), "do", "save", "base", strings.Trim(f.tag(), `"`), "text", "epochs: 8\r\n")
	require.Equal(t, 502, page.status)
	require.Contains(t, page.body, "Saved, but not verified: Your text is version 3.")
	require.Contains(t, page.body, "\nepochs: 8\n</textarea>")
}

func TestAFailedSaveIsNotRepeated(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	for name, c := range map[string]struct {
		fault  clowdertest.Fault
		work   func(*fixture)
		status int
		stored []string
	}{
		"somebody else saved before it failed": {
			clowdertest.Fault{Skip: 1, Status: 500},
			func(f *fixture) { require.NoError(f.t, f.direct(bob, "epochs: 99\n")) }, 412,
			[]string{"1 " + alice, "2 " + bob},
		},
		"somebody else saved the same text before it failed": {
			clowdertest.Fault{Skip: 1, Status: 500},
			func(f *fixture) { require.NoError(f.t, f.direct(bob, "epochs: 6\n")) }, 412,
			[]string{"1 " + alice, "2 " + bob},
		},
		"it was stored, but Clowder does not say so": {
			clowdertest.Fault{Status: 500, After: true}, func(f *fixture) {
				f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/summary", Status: 500})
			}, 502, []string{"1 " + alice, "2 " + alice},
		},
		"Clowder refuses it": {
			clowdertest.Fault{Status: 403}, func(*fixture) {}, 403, []string{"1 " + alice},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			tag := f.tag()
			c.fault.Method, c.fault.Path, c.fault.Times = http.MethodPut, "/files/", 1
			f.clowder.Fail(c.fault)
			f.meanwhile(func() { c.work(f) })
			got := f.save(alice, tag, "epochs: 6\n")
			require.Equal(t, c.status, got.status, got.body)
			require.Equal(t, c.stored, f.clowder.Versions(f.file))
			if c.status == 412 {
				newest, _ := got.json["newest"].(map[string]any)
				require.Equal(t, []any{2.0, bob}, []any{newest["number"], newest["by"]})
			}
		})
	}
}

func TestAVisitorWhoGoesAwayLeavesNoSaveHalfDone(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	base := strings.Trim(f.tag(), `"`)
	window := f.section.presence.enter(f.file, f.visitor(bob, false), time.Now())
	ctx, goAway := context.WithCancel(t.Context())
	f.meanwhile(goAway)
	ctx = web.WithVisitor(ctx, f.visitor(alice, false))
	out, err := f.section.save(ctx, f.dataset, f.file, base, "epochs: 6\n")
	require.NoError(t, err)
	require.Equal(t, 2, out.Number)
	require.Equal(t, "epochs: 6\n", f.text(f.file))
	_, newest := f.section.presence.around(window)
	require.Equal(t, out.Saved, newest, "the other windows are told")
	_, err = f.section.save(ctx, f.dataset, f.file, out.Tag, "epochs: 7\n")
	require.ErrorIs(t, err, context.Canceled, "who is gone before a save begins saves nothing")
	require.Len(t, f.clowder.Versions(f.file), 2)
}
