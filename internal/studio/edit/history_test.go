package edit

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestAVersionIsRestoredOnlyByWhoMaySaveIt(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	require.Equal(t, 200, f.save(bob, f.tag(), "epochs: 6\n").status)
	base := strings.Trim(f.tag(), `"`)
	page := f.page("files", f.file, "versions")
	for name, c := range map[string]struct {
		who    string
		fields []string
		status int
		says   string
	}{
		"a viewer":           {carol, []string{"version", "1", "base", base}, 403, "You are viewer of this dataset; this needs the role editor."},
		"no version":         {bob, []string{"base", base}, 400, "Which version?"},
		"version zero":       {bob, []string{"version", "0", "base", base}, 400, "Go back and choose a version."},
		"a word":             {bob, []string{"version", "first", "base", base}, 400, "Which version?"},
		"a version to come":  {bob, []string{"version", "3", "base", base}, 404, "There is no such page"},
		"without the newest": {bob, []string{"version", "1"}, 428, "Which version did you change?"},
		"from an older page": {bob, []string{"version", "1", "base", "1-x"}, 412, "bob@example.org saved version 2 at"},
	} {
		got := f.post(c.who, page, c.fields...)
		require.Equal(t, c.status, got.status, name)
		require.Contains(t, got.body, c.says, name)
	}
	require.Len(t, f.clowder.Versions(f.file), 2)
	same := f.post(bob, page, "version", "2", "base", base)
	require.Equal(t, "/ray"+f.page("files", f.file)+"?same=1", same.header.Get("Location"), "the newest one is there already")
	done := f.post(bob, page, "version", "1", "base", base)
	require.Equal(t, "/ray"+f.page("files", f.file)+"?saved=3", done.header.Get("Location"))
}

func TestTheHistoryComparesAnyTwoVersions(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page := f.page("files", f.file, "versions")
	require.NotContains(t, f.do(carol, http.MethodGet, page, "").body, `id="difference"`, "the first version has nothing before it")
	for _, text := range []string{"a\n", "<b>\n", "a\n"} {
		require.NoError(t, f.direct(bob, text))
	}
	for query, c := range map[string]struct{ has, hasNot string }{
		"":                {"From version 3 to version 4", "Both texts are the same."},
		"?from=2&to=3":    {`<td>+</td><td><code>&lt;b&gt;</code></td>`, "<code><b>"},
		"?from=3&to=2":    {`<td>−</td><td><code>&lt;b&gt;</code></td>`, "Both texts are the same."},
		"?from=2":         {"Both texts are the same.", "Changed lines"},
		"?from=4":         {"Both texts are the same.", "Changed lines"},
		"?from=x&to=1e9":  {"From version 3 to version 4", "Both texts are the same."},
		"?from=-1":        {"(newest)", `id="difference"`},
		"?from=0&to=4":    {"(newest)", `id="difference"`},
		"?from=3&from=99": {"From version 3 to version 4", "From version 99"},
	} {
		got := f.do(carol, http.MethodGet, page+query, "")
		require.Equal(t, 200, got.status, query)
		require.Contains(t, got.body, c.has, query)
		require.NotContains(t, got.body, c.hasNot, query)
	}
	require.Equal(t, 404, f.do(carol, http.MethodGet, page+"?from=99", "").status)
}

func TestAHistoryIsShownThatHoldsVersionsWithoutText(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page := f.page("files", f.file, "versions")
	for _, text := range []string{"a\n", strings.Repeat("x", maxText+1), "b\n", "\xff"} {
		require.NoError(t, f.direct(bob, text))
	}
	for query, says := range map[string]string{
		"":             "Versions 4 and 5 cannot be compared",
		"?from=2&to=3": "Versions 2 and 3 cannot be compared",
		"?from=3&to=4": "Versions 3 and 4 cannot be compared",
		"?from=2&to=4": "From version 2 to version 4",
	} {
		got := f.do(carol, http.MethodGet, page+query, "")
		require.Equal(t, 200, got.status, query)
		require.Contains(t, got.body, says, query)
		require.Contains(t, got.body, "(newest)", query)
	}
	restored := f.post(bob, page, "version", "3", "base", strings.Trim(f.tag(), `"`))
	require.Equal(t, 409, restored.status)
	require.Contains(t, restored.body, "This file is larger than 1 MB.")
}

func TestAConflictWithoutItsCommonVersionIsTheWholeText(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page, before := f.page("files", f.file), f.text(f.file)
	for _, base := range []string{"9-x", "no tag", "-1-x"} {
		got := f.post(bob, page, "do", "save", "base", base, "text", "epochs: 6\r\nseed: 7\r\n")
		require.Equal(t, 412, got.status, base)
		require.Contains(t, got.body, "Both changed lines 1 to 2: choose, then save.", base)
		require.Contains(t, got.body, "mine\nepochs: 6\nseed: 7\n=======\n"+before, base)
		taken := f.post(bob, page, "do", "take", "mine_base", base, "mine", "epochs: 6\n")
		require.Contains(t, taken.body, "The lines of alice@example.org stand in all places that both changed.", base)
		require.Contains(t, taken.body, "\n"+before+"</textarea>", base)
	}
	base := strings.Trim(f.tag(), `"`)
	require.NoError(t, f.direct(alice, "epochs: 99\n"))
	// Clowder gives the newest text to the page and to the save, and then fails for the version that both came from.
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/files/" + f.file, Skip: 4, Status: 500})
	got := f.post(bob, page, "do", "save", "base", base, "text", "epochs: 6\n")
	require.Equal(t, 502, got.status, "without that version known there is no merge")
	require.Equal(t, "epochs: 99\n", f.text(f.file))
}

func TestSettingsAreFoundByTheirPathBeforeTheirName(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.add("code/a.yaml", "epochs: 900\n")
	f.add("a.yaml", "epochs: 9\n")
	f.add("code/deep/b.yaml", "epochs: 901\n")
	ctx := web.WithVisitor(t.Context(), f.visitor(bob, false))
	for file, want := range map[string]string{
		"a.yaml": "", "code/a.yaml": "not 900.", "b.yaml": "not 901.", "code/deep/b.yaml": "not 901.", "deep/b.yaml": "", "": "", "../a.yaml": "",
	} {
		err := new(Settings).Check(ctx, f.dataset, file)
		if want == "" {
			require.NoError(t, err, file)
			continue
		}
		require.ErrorContains(t, err, want, file)
	}
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/datasets/", Status: 500})
	require.NoError(t, new(Settings).Check(ctx, f.dataset, "b.yaml"), "the training says what is wrong")
}
