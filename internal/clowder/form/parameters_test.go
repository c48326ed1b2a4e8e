package form_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestParametersAreCoerced(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key       string
		raw, want any
	}{
		"a number as it is":            {"epochs", json.Number("5"), int64(5)},
		"a number from a stored job":   {"epochs", 5.0, int64(5)},
		"a number as text":             {"epochs", " 5 ", int64(5)},
		"a whole number with a point":  {"epochs", "5.0", int64(5)},
		"a small number as text":       {"learning_rate", "1e-5", 1e-5},
		"a blank is unset":             {"epochs", "  ", int64(3)},
		"null is unset":                {"use_gpu", nil, "auto"},
		"a choice in other letters":    {"use_gpu", "YES", "yes"},
		"a truth value for yes or no":  {"use_gpu", true, "yes"},
		"a number for a text":          {"run_name", json.Number("7"), "7"},
		"a text loses its line breaks": {"run_name", "a\r\nb", "a b"},
		"a text area keeps them":       {"more_options", "\ufeffdata:\r\n  seed:\t 7\n\n", "data:\n  seed: 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolved, warnings, err := shippedInfo(t).Parameters(map[string]any{tc.key: tc.raw})
			require.NoError(t, err)
			require.Empty(t, warnings)
			require.Equal(t, tc.want, resolved[tc.key])
			require.Len(t, resolved, 18)
		})
	}
}

func TestChangedParametersAreFoundInAStoredJob(t *testing.T) {
	t.Parallel()
	info := shippedInfo(t)
	resolved, _, err := info.Parameters(map[string]any{
		"epochs": "3", "batch_size": "16", "learning_rate": "1e-4", "use_gpu": "AUTO", "dry_run": true, "data_file": "abc", "run_name": " ",
	})
	require.NoError(t, err)
	want := map[string]any{"batch_size": int64(16), "learning_rate": 1e-4, "dry_run": true, "data_file": "abc"}
	require.Equal(t, want, info.Changed(resolved))
	doc, err := json.Marshal(resolved)
	require.NoError(t, err)
	var stored map[string]any
	require.NoError(t, json.Unmarshal(doc, &stored))
	require.Equal(t, want, info.Changed(stored))
}

func TestThePredictFormIsAcceptedAndOffersNoModels(t *testing.T) {
	t.Parallel()
	info := infoIn(t, "extractor_info.predict.json")
	require.Equal(t, "ncsa.ray.predict", info.Name)
	same, err := info.WithModels([]string{"prajjwal1/bert-tiny"})
	require.NoError(t, err)
	require.Equal(t, info, same, "the model is a name that the user types")
	resolved, _, err := same.Parameters(map[string]any{"model": "films@champion"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"model": "films@champion"}, info.Changed(resolved))
}

func advancedInfo(tb testing.TB) *form.Info {
	tb.Helper()
	return infoIn(tb, "extractor_info.advanced.json")
}

func TestTheFieldsOfAGroupMayBeOutsideOfIt(t *testing.T) {
	t.Parallel()
	info := advancedInfo(t)
	for name, raw := range map[string]map[string]any{
		"in the group, as the form posts them": {"training": map[string]any{"weight_decay": 0.5, "optimizer": "adamw"}, "epochs": 5.0},
		"by their full names":                  {"training.weight_decay": "0.5", "epochs": "5"},
		"by their names alone":                 {"weight_decay": "0.5", "epochs": "5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolved, warnings, err := info.Parameters(raw)
			require.NoError(t, err)
			require.Empty(t, warnings)
			require.Equal(t, map[string]any{"training.weight_decay": 0.5, "epochs": int64(5)}, info.Changed(resolved))
			require.Equal(t, info.Defaults()["training.optimizer"], resolved["training.optimizer"])
		})
	}
	_, _, err := info.Parameters(map[string]any{"training": map[string]any{"weight_decay": 7.0}})
	require.EqualError(t, err, "Invalid parameters: training.weight_decay must be a number from 0 to 1 (got 7)")
	_, warnings, err := info.Parameters(map[string]any{"training": map[string]any{"weight": 7}, "output": "x"})
	require.NoError(t, err)
	require.Equal(t, []string{"Ignored the unknown parameter output", "Ignored the unknown parameter training.weight"}, warnings)
}

func TestGroupsOfAFormAreChecked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ schema, want string }{
		"no title":                {`{"a":{"type":"object","properties":{"b":{"type":"boolean","title":"B","default":false}}}}`, "a group needs a title"},
		"nothing in it":           {`{"a":{"type":"object","title":"A"}}`, "a group needs a title in plain ASCII, and properties"},
		"a group in a group":      {`{"a":{"type":"object","title":"A","properties":{"b":{"type":"object","title":"B"}}}}`, "a.b: type must be"},
		"a required field":        {`{"a":{"type":"object","title":"A","required":["b"],"properties":{"b":{"type":"boolean","title":"B","default":false}}}}`, "required is not supported"},
		"a file picker":           {`{"a":{"type":"object","title":"A","properties":{"b":{"type":"string","title":"B","format":"ClowderFile"}}}}`, "finds no files"},
		"a default that is wrong": {`{"a":{"type":"object","title":"A","properties":{"b":{"type":"integer","title":"B","default":"x"}}}}`, "a.b: its default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := form.Parse([]byte(`{"parameters":{"schema":` + tc.schema + `}}`))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestParametersAreRefusedInOneSentenceEach(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key  string
		raw  any
		want string
	}{
		"below the least":         {"learning_rate", json.Number("-1"), "learning_rate must be a number from 0 to 1 (got -1)"},
		"above the most":          {"epochs", "201", `epochs must be a whole number from 1 to 200 (got "201")`},
		"not a number":            {"epochs", "many", `epochs must be a whole number from 1 to 200 (got "many")`},
		"half an epoch":           {"epochs", 2.5, "epochs must be a whole number from 1 to 200 (got 2.5)"},
		"infinite":                {"learning_rate", "inf", `learning_rate must be a number from 0 to 1 (got "inf")`},
		"not a number by name":    {"learning_rate", "NaN", `learning_rate must be a number from 0 to 1 (got "NaN")`},
		"too big to be exact":     {"seed", json.Number("1e300"), "seed must be a whole number from 0 to 2147483647 (got 1e300)"},
		"beyond all numbers":      {"seed", json.Number("1e400"), "seed must be a whole number from 0 to 2147483647 (got 1e400)"},
		"a choice that is none":   {"use_gpu", "perhaps", `use_gpu must be one of auto, yes, no (got "perhaps")`},
		"a list for a number":     {"epochs", []any{1}, "epochs must be a single value (got a list)"},
		"an object for a text":    {"run_name", map[string]any{}, "run_name must be a single value (got an object)"},
		"true for a number":       {"epochs", true, "epochs must be a whole number from 1 to 200 (got true)"},
		"a model that is missing": {"model", "gpt", `model must be one of auto, words, trees, linear, perceptron, ensemble, bert-tiny, small-cnn, mlp, sage (got "gpt")`},
		"an endless text area":    {"more_options", strings.Repeat("x", 10_001), "more_options must not be longer than 10000 characters"},
		"an endless text":         {"run_name", strings.Repeat("x", 1001), "run_name must not be longer than 1000 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := shippedInfo(t).Parameters(map[string]any{tc.key: tc.raw})
			require.ErrorContains(t, err, "Invalid parameters: "+tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestParametersWarnAboutUnknownNamesAndReportAllProblems(t *testing.T) {
	t.Parallel()
	_, warnings, err := shippedInfo(t).Parameters(map[string]any{"learning_rat": 1, "a\nb": 2, "epochs": 0.0, "seed": "x"})
	require.Equal(t, []string{"Ignored the unknown parameter a b", "Ignored the unknown parameter learning_rat"}, warnings)
	require.EqualError(t, err, `Invalid parameters: epochs must be a whole number from 1 to 200 (got 0); seed must be a whole number from 0 to 2147483647 (got "x")`)
}

func FuzzParameters(f *testing.F) {
	info := advancedInfo(f)
	f.Add([]byte(`{"epochs":"3","learning_rate":1e-5}`))
	f.Add([]byte(`{"training":{"weight_decay":"x"},"data":null,"":{}}`))
	f.Add([]byte(`{"use_gpu":true,"run_name":"\u0000"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var raw map[string]any
		if json.Unmarshal(data, &raw) != nil {
			return
		}
		resolved, _, err := info.Parameters(raw)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		_, err = json.Marshal(resolved)
		require.NoError(t, err)
		require.Len(t, resolved, len(info.Defaults()))
	})
}

func TestTheScriptFormIsAcceptedAndNeedsNoSettings(t *testing.T) {
	t.Parallel()
	info := infoIn(t, "extractor_info.script.json")
	require.Equal(t, "ncsa.ray.script", info.Name)
	resolved, warnings, err := info.Parameters(nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Empty(t, info.Changed(resolved))
	resolved, _, err = info.Parameters(map[string]any{"arguments": "--text 'a b' \\\n  --lr 1e-3", "nodes": "2"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"arguments": "--text 'a b' \\\n  --lr 1e-3", "nodes": int64(2)}, info.Changed(resolved))
}

func TestNamesAreCheckedForACommandLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key, want string
	}{
		"a field":                   {"label_column", ""},
		"a group that it is not in": {"data.label_column", "There is no parameter data.label_column: do you mean label_column?"},
		"a field of an older form":  {"NUM_EPOCHS", ""},
		"one that nothing replaces": {"NUM_LABELS", ""},
		"a letter too few":          {"label_colum", "There is no parameter label_colum: do you mean label_column?"},
		"nothing like it":           {"zzz", "There is no parameter zzz"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := shippedInfo(t).CheckNames(map[string]any{tc.key: "x"})
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}
