package edit

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSameProtectionWithoutScript(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page := f.page("files", f.file)
	opened := f.do(bob, http.MethodGet, page, "")
	require.Equal(t, 200, opened.status, opened.body)
	base := strings.Trim(f.tag(), `"`)
	require.Contains(t, opened.body, `name="base" value="`+base+`"`)
	require.Contains(t, opened.body, "<textarea id=\"text\"")

	saved := f.post(alice, page, "do", "save", "base", base, "text", "epochs: 6\r\ntraining:\r\n  seed: 7\r\n  weight_decay: 0.1\r\n")
	require.Equal(t, 303, saved.status, saved.body)
	require.Equal(t, "/ray"+page+"?saved=2", saved.header.Get("Location"))
	require.Equal(t, "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.1\n", f.text(f.file), "the file keeps its line ends")
	require.Contains(t, f.do(alice, http.MethodGet, page+"?saved=2", "").body, "Saved as version 2.")

	merged := f.post(bob, page, "do", "save", "base", base, "text", "epochs: 5\r\ntraining:\r\n  seed: 7\r\n  weight_decay: 0.5\r\n")
	require.Equal(t, 412, merged.status)
	require.Contains(t, merged.body, "alice@example.org saved version 2 while you were writing. That change and yours are in different lines and are merged below")
	require.Contains(t, merged.body, "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.5\n</textarea>")
	newest := strings.Trim(f.tag(), `"`)
	require.Contains(t, merged.body, `name="base" value="`+newest+`"`)
	require.Equal(t, 303, f.post(bob, page, "do", "save", "base", newest, "text", "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.5\n").status)
	require.Equal(t, []string{"1 " + alice, "2 " + alice, "3 " + bob}, f.clowder.Versions(f.file))
}

func TestAConflictWithoutScript(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page, base := f.page("files", f.file), strings.Trim(f.tag(), `"`)
	require.Equal(t, 303, f.post(alice, page, "do", "save", "base", base, "text", "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.1\n").status)
	mine := "epochs: 9\ntraining:\n  seed: 7\n  weight_decay: 0.1\n# <script>alert(1)</script>\n"
	shown := f.post(bob, page, "do", "save", "base", base, "text", mine)
	require.Equal(t, 412, shown.status)
	require.Contains(t, shown.body, "Both changed line 1")
	require.Contains(t, shown.body, "&lt;&lt;&lt;&lt;&lt;&lt;&lt; mine\nepochs: 9\n=======\nepochs: 6\n")
	require.NotContains(t, shown.body, "<script>alert")
	taken := f.post(bob, page, "do", "take", "mine_base", base, "mine", mine)
	require.Contains(t, taken.body, "\nepochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.1\n# &lt;script&gt;")
	kept := f.post(bob, page, "do", "keep", "mine_base", base, "mine", mine)
	require.Contains(t, kept.body, "\nepochs: 9\ntraining:\n  seed: 7\n")
}

func TestThePageOfAFileSaysWhatAVisitorMayDo(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	page := f.page("files", f.file)
	for name, c := range map[string]struct {
		who    string
		header []string
		has    []string
		hasNot []string
	}{
		"an owner":            {alice, nil, []string{">Save<", ">Save and train<"}, []string{"Read only", "Save a copy"}},
		"an editor":           {bob, nil, []string{">Save<", ">Save and train<"}, []string{"Read only"}},
		"a viewer":            {carol, nil, []string{"Read only: you are viewer of this dataset.", " readonly"}, []string{">Save<", "Save and train", "Save a copy"}},
		"an owner with a key": {alice, []string{"By-Key", "1"}, []string{"Read only: Clowder takes new versions only from a login with its Keycloak.", ">Save a copy<", ">Log in<"}, []string{">Save<"}},
	} {
		got := f.do(c.who, http.MethodGet, page, "", c.header...)
		require.Equal(t, 200, got.status, name)
		for _, want := range c.has {
			require.Contains(t, got.body, want, name)
		}
		for _, not := range c.hasNot {
			require.NotContains(t, got.body, not, name)
		}
	}
	require.Equal(t, 404, f.do(dave, http.MethodGet, page, "").status)
	require.Equal(t, f.do(dave, http.MethodGet, page, "").body, f.do(dave, http.MethodGet, f.page("files", "000000000000000000000000"), "").body)
	require.Equal(t, 403, f.post(carol, page, "do", "save", "base", strings.Trim(f.tag(), `"`), "text", "x").status)
	binary := f.add("broken.txt", "a\xff")
	require.Contains(t, f.do(alice, http.MethodGet, f.page("files", binary), "").body, "This file is not UTF-8 text. Open it in Clowder.")
	large := f.add("large.txt", strings.Repeat("x", maxText+1))
	require.Contains(t, f.do(alice, http.MethodGet, f.page("files", large), "").body, "This file is larger than 1 MB.")
}

func TestSaveAndTrainStartsARunWithTheFile(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	got := f.post(bob, f.page("files", f.file), "do", "train", "base", strings.Trim(f.tag(), `"`), "text", "epochs: 7\n", "key", "k")
	require.Equal(t, 303, got.status, got.body)
	require.Equal(t, "/ray/runs/ft-1", got.header.Get("Location"))
	require.Equal(t, []string{f.dataset + " " + f.file}, f.trained)
	require.Equal(t, "epochs: 7\n", f.text(f.file))
	got = f.post(bob, f.page("files", f.file), "do", "check", "base", "1-x", "text", "sede: 7\n")
	require.Contains(t, got.body, "line 1, column 1:</strong> There is no option sede: do you mean seed?")
}

func TestFilesAreListedAndAdded(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.add("code/split.py", "x = 1\n")
	f.add("data.csv", "a,b\n")
	list := f.do(carol, http.MethodGet, f.page("files"), "")
	require.Equal(t, 200, list.status, list.body)
	require.Less(t, strings.Index(list.body, "finetune.yaml"), strings.Index(list.body, "code/split.py"))
	require.NotContains(t, list.body, "data.csv")
	require.Contains(t, list.body, "1 further file opens")
	require.NotContains(t, list.body, "Add a file")
	require.Equal(t, 403, f.post(carol, f.page("files"), "name", "a.txt").status)
	for _, name := range []string{"", "../a.txt", "a.exe", "FINETUNE.yaml", "finetune.yaml"} {
		require.GreaterOrEqual(t, f.post(alice, f.page("files"), "name", name).status, 400, name)
	}
	made := f.post(erin, f.page("files"), "name", "notes.md")
	require.Equal(t, 303, made.status, made.body)
	copied := f.do(alice, http.MethodPost, f.page("files", f.file), "do=copy&text=epochs%3A+8%0D%0A", "By-Key", "1", "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 303, copied.status, copied.body)
	second := f.do(alice, http.MethodPost, f.page("files", f.file), "do=copy&text=x", "By-Key", "1", "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 303, second.status)
	body := f.do(alice, http.MethodGet, f.page("files"), "").body
	require.Contains(t, body, "finetune-copy.yaml")
	require.Contains(t, body, "finetune-copy-2.yaml")
}

func TestNewSettingsBeginWithThoseOfTheLastRun(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	written, err := f.section.firstSettings(t.Context(), f.dataset)
	require.NoError(t, err)
	require.Equal(t, "# Settings of the trainings of this dataset. Every option can be left out.\n"+
		"task: text-classification\nepochs: 5\nlearning_rate: 0.0003\ntraining:\n  seed: 7\n  class_weights: none\n", written)
	require.Empty(t, f.section.checker.Check(t.Context(), settingsName, written).Findings)
	empty, err := settingsText(nil)
	require.NoError(t, err)
	require.Contains(t, empty, "# epochs: 3\n")
}

func TestTheHistoryShowsWhatChangedAndRestores(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	require.Equal(t, 200, f.save(bob, f.tag(), "epochs: 6\ntraining:\n  seed: 7\n  weight_decay: 0.1\n").status)
	page := f.page("files", f.file, "versions")
	got := f.do(carol, http.MethodGet, page, "")
	require.Equal(t, 200, got.status, got.body)
	require.Contains(t, got.body, `<tr class="removed"><td>1</td><td></td><td>−</td><td><code>epochs: 5</code></td></tr>`)
	require.Contains(t, got.body, `<tr class="added"><td></td><td>1</td><td>+</td><td><code>epochs: 6</code></td></tr>`)
	require.NotContains(t, got.body, "Restore")
	require.Contains(t, f.do(alice, http.MethodGet, page, "").body, "Restore as a new version")
	require.Equal(t, 404, f.do(alice, http.MethodGet, page+"?from=1&to=7", "").status)
	require.Contains(t, f.do(alice, http.MethodGet, page+"?from=2", "").body, "Both texts are the same.")
	tag := strings.Trim(f.tag(), `"`)
	restored := f.post(alice, page, "version", "1", "base", tag)
	require.Equal(t, 303, restored.status, restored.body)
	require.Contains(t, f.text(f.file), "epochs: 5\n")
	require.Equal(t, 412, f.post(bob, page, "version", "2", "base", tag).status, "somebody saved meanwhile")
}
