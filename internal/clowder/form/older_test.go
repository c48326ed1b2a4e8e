package form_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const key = "hf_abcdefghijklmnopqrstuvwxyz01"

// Keep and Parameters are what is written down and what is said of a form.
func TestOldNamesAreUnderstoodAndKeysAreNeverRepeated(t *testing.T) {
	t.Parallel()
	id, other := strings.Repeat("a", 24), strings.Repeat("b", 24)
	for name, tc := range map[string]struct {
		raw     map[string]any
		want    map[string]any // of the values
		said    []string
		without []string
	}{
		"the fields of the predecessor": {
			raw:  map[string]any{"MODEL_NAME": "words", "LOCAL_TRAIN_FILE_ID": id, "LOCAL_TEST_FILE_ID": other, "NUM_LABELS": 3.0},
			want: map[string]any{"model": "words", "data_file": id, "test_file": other},
			said: []string{"MODEL_NAME as model", "LOCAL_TRAIN_FILE_ID as data_file", "NUM_LABELS of an older extractor: the labels are counted"},
		},
		"folders as objects": {
			raw:  map[string]any{"TRAIN_FOLDER": map[string]any{"selectionID": id, "selectionType": "folder"}, "VAL_FOLDER": "val/"},
			want: map[string]any{"data_file": `{"selectionID":"` + id + `","selectionType":"folder"}`, "validation_file": "val/"},
		},
		"both names": {
			raw: map[string]any{"MODEL_NAME": "trees", "model": "words"}, want: map[string]any{"model": "words"}, said: []string{"because model is set"},
		},
		"an old name that this form lacks": {
			raw: map[string]any{"MODEL_FILE_ID": id}, said: []string{"this form has no model_file"},
		},
		"keys": {
			raw:     map[string]any{"WANDB_API_KEY": "0123456789", "hf-token": key, key: "x", "run_name": "with " + key, "more_options": "seed: 7\nhf_token: s3cret\napi_key=abc9\n"},
			want:    map[string]any{"run_name": "with ***", "more_options": "seed: 7\nhf_token: ***\napi_key=***"},
			said:    []string{"WANDB_API_KEY: this service takes no keys", "hf-token: this service takes no keys"},
			without: []string{"0123456789", key, "s3cret", "abc9"},
		},
		"a key in a wrong place": {raw: map[string]any{"epochs": key, "model": key}, said: []string{"epochs must be"}, without: []string{key}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := infoIn(t, "extractor_info.advanced.json")
			kept := info.Keep(tc.raw)
			values, warnings, err := info.Parameters(kept)
			if err != nil {
				warnings = append(warnings, err.Error())
			}
			for field, want := range tc.want {
				require.Equal(t, want, values[field], field)
			}
			doc, err := json.Marshal([]any{kept, values, warnings})
			require.NoError(t, err)
			for _, said := range tc.said {
				require.Contains(t, string(doc), said)
			}
			for _, secret := range tc.without {
				require.NotContains(t, string(doc), secret)
			}
			again, _, err := info.Parameters(tc.raw)
			if err == nil {
				require.Equal(t, values, again, "a record means what was sent")
			}
		})
	}
}

func TestAPickerTakesWhatTheSelectorSends(t *testing.T) {
	t.Parallel()
	info := infoIn(t, "extractor_info.advanced.json")
	values, _, err := info.Parameters(map[string]any{"test_file": []any{"a.csv", map[string]any{"selectionName": "b.csv"}}, "data_file": "{}", "config_file": "[]"})
	require.NoError(t, err)
	require.JSONEq(t, `["a.csv",{"selectionName":"b.csv"}]`, values["test_file"].(string))
	require.Empty(t, values["data_file"], "a selector that was closed again")
	require.Empty(t, values["config_file"])
	_, _, err = info.Parameters(map[string]any{"test_file": map[string]any{"selectionID": "../x"}})
	require.ErrorContains(t, err, "test_file has an id that is no id of Clowder")
}
