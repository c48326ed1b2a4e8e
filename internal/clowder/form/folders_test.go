package form_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
)

func TestAPageHasAFieldForAFolderBehindEachPickerOfData(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"extractor_info.json":          {"data_file", "data_folder", "test_file", "test_folder"},
		"extractor_info.advanced.json": {"data_file", "data_folder", "validation_file", "validation_folder", "test_file", "test_folder"},
		"extractor_info.predict.json":  {"data_file", "data_folder"},
		"extractor_info.script.json":   nil,
		"extractor_info.runs.json":     nil,
	} {
		info := infoIn(t, name)
		body := string(info.Heartbeat("q", form.Owner{}, "i"))
		last := 0
		for _, field := range want {
			at := strings.Index(body, `"`+field+`":{"type":"string"`)
			require.Greater(t, at, last, "%s: %s", name, field)
			last = at
		}
		require.Equal(t, len(want)/2, strings.Count(body, `_folder":{`), name)
		require.NotContains(t, info.Defaults(), "data_folder", "it is drawn only")
		if strings.Contains(body, `"form":[{"key"`) && len(want) > 0 {
			require.Contains(t, body, `{"key":"data_folder"}`, "v1 draws what the list has")
		}
	}
}

func TestAFolderJoinsTheFilesOfItsUse(t *testing.T) {
	t.Parallel()
	id, other := strings.Repeat("a", 24), strings.Repeat("b", 24)
	selector := `{"selectionID":"` + other + `","selectionType":"folder"}`
	for name, tc := range map[string]struct {
		raw  map[string]any
		want string // of test_file
	}{
		"nothing":                    {map[string]any{"test_folder": " ", "test_file": nil}, ""},
		"a file alone":               {map[string]any{"test_folder": "", "test_file": id}, id},
		"a name":                     {map[string]any{"test_folder": "held"}, "held/"},
		"a path with a slash":        {map[string]any{"test_folder": "/imgs/held/"}, "/imgs/held/"},
		"an id":                      {map[string]any{"test_folder": id}, id},
		"what a selector sends":      {map[string]any{"test_folder": selector}, selector},
		"the same as an object":      {map[string]any{"test_folder": map[string]any{"selectionID": other}}, `{"selectionID":"` + other + `"}`},
		"a file and a folder":        {map[string]any{"test_file": id, "test_folder": "held"}, `["` + id + `","held/"]`},
		"a list and a folder":        {map[string]any{"test_file": []any{"a.csv", "b.csv"}, "test_folder": "held"}, `[["a.csv","b.csv"],"held/"]`},
		"the name of an old form":    {map[string]any{"TEST_FOLDER": "held"}, "held"},
		"an old name and a new name": {map[string]any{"TEST_FILE": id, "test_folder": "held"}, "held/"},
	} {
		info := infoIn(t, "extractor_info.advanced.json")
		for _, raw := range []map[string]any{tc.raw, info.Keep(tc.raw)} {
			values, _, err := info.Parameters(raw)
			require.NoError(t, err, name)
			require.Equal(t, tc.want, values["test_file"], name)
			require.NotContains(t, values, "test_folder", name)
		}
	}
	doc, err := json.Marshal(infoIn(t, "extractor_info.script.json").Keep(map[string]any{"data_folder": "held"}))
	require.NoError(t, err)
	require.JSONEq(t, `{"data_folder":null}`, string(doc), "a form without the picker does not know it")
}
