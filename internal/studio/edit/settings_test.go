package edit

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestSaveAndTrainStartsNothingWithAnError(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	for name, wrong := range map[string]string{"finetune.yaml": "# long\nepochs: 400\n", "mine.json": "{\n  \"epochs\": 400}"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if name != "finetune.yaml" {
				f.file = f.add(name, "{}\n")
			}
			page := f.page("files", f.file)
			got := f.post(bob, page, "do", "train", "base", strings.Trim(f.tag(), `"`), "text", wrong, "key", "k")
			require.Equal(t, 422, got.status, got.body)
			require.Empty(t, f.trained)
			require.Equal(t, wrong, f.text(f.file), "the work is not lost")
			require.Contains(t, got.body, "Saved as version 2. No training was started: line 2 has an error. Correct it, then press Save and train again.")
			require.Regexp(t, `✕ Error, line 2, column \d+:</strong> epochs must be a whole number from 1 to 200, not 400\.`, got.body)
			require.Contains(t, got.body, `name="base" value="`+strings.Trim(f.tag(), `"`)+`"`)

			again := f.post(bob, page, "do", "train", "base", strings.Trim(f.tag(), `"`), "text", wrong, "key", "k")
			require.Equal(t, 422, again.status)
			require.Contains(t, again.body, "> No training was started: line 2", "nothing was saved this time")
			right := f.post(bob, page, "do", "train", "base", strings.Trim(f.tag(), `"`), "text", strings.Replace(wrong, "400", "4", 1), "key", "k")
			require.Equal(t, 303, right.status, right.body)
			require.Len(t, f.trained, 1)
		})
	}
}

func TestAWarningHoldsNoTraining(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	got := f.post(bob, f.page("files", f.file), "do", "train", "base", strings.Trim(f.tag(), `"`), "text", "sede: 7\n", "key", "k")
	require.Equal(t, 303, got.status, got.body)
	require.Len(t, f.trained, 1)
}

func TestATextIsCheckedAsSettingsOnRequest(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	for asked, want := range map[bool]int{true: 1, false: 0} {
		body, err := json.Marshal(map[string]any{"name": "other.yaml", "text": "epochs: 400\n", "settings": asked})
		require.NoError(t, err)
		got := f.do(bob, http.MethodPost, f.api("check"), string(body), "Content-Type", "application/json")
		require.Equal(t, 200, got.status, got.body)
		require.Len(t, got.json["findings"], want)
	}
}

func TestSettingsAreCheckedBeforeATraining(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	other := f.clowder.AddDataset(alice, "another")
	foreign, err := f.clowder.AddFile(other, "x.yaml", strings.NewReader("epochs: 400\n"))
	require.NoError(t, err)
	wrong := f.add("wrong.yaml", "seed: -1\nepochs: 400\noptimizer: adam\n")
	const said = "wrong.yaml, version 1, line 1, column 7: seed must be a whole number from 0 to 2147483647, not -1. The file has 2 further errors. No run was started."
	for name, c := range map[string]struct{ file, want string }{
		"a file without mistakes":          {f.file, ""},
		"a file with mistakes":             {wrong, said},
		"the same by its name":             {"wrong.yaml", said},
		"one further mistake":              {f.add("two.yaml", "epochs: 400\nseed: -1\n"), "two.yaml, version 1, line 1, column 9: epochs must be a whole number from 1 to 200, not 400. The file has 1 further error. No run was started."},
		"a warning":                        {f.add("warning.yaml", "sede: 7\n"), ""},
		"Python":                           {f.add("config.py", "epochs = 400\n"), "config.py, version 1, line 1, column 10: epochs must be a whole number from 1 to 200, not 400. No run was started."},
		"a file of another dataset":        {foreign, ""},
		"a file that nobody has":           {"000000000000000000000000", ""},
		"a name that no file has":          {"nothing.yaml", ""},
		"a file that is no text":           {f.add("broken.yaml", "a\xff"), ""},
		"a file that is larger than 1 MB":  {f.add("large.yaml", strings.Repeat("# x\n", maxText/4+1)), ""},
		"a file that the editor opens not": {f.add("a.png", "png"), ""},
	} {
		ctx := web.WithVisitor(t.Context(), f.visitor(bob, false))
		err := new(Settings).Check(ctx, f.dataset, c.file)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Equal(t, 422, web.AsProblem(err).Status, name)
		require.Equal(t, c.want, web.AsProblem(err).Detail, name)
	}
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/files/", Times: 10, Status: 500})
	require.NoError(t, new(Settings).Check(web.WithVisitor(t.Context(), f.visitor(bob, false)), f.dataset, wrong), "Clowder says nothing of the file")
}
