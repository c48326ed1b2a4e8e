package form_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
)

func TestOnlyFieldsOfTheFormAreKept(t *testing.T) {
	t.Parallel()
	info := advancedInfo(t)
	long := strings.Repeat("x", 50_000)
	for name, tc := range map[string]struct{ raw, want map[string]any }{
		"nothing":                      {nil, map[string]any{}},
		"fields, however they came":    {map[string]any{"epochs": json.Number("5"), "training": map[string]any{"weight_decay": "0.5"}, "training.optimizer": nil, "num_workers": true}, map[string]any{"epochs": json.Number("5"), "training": map[string]any{"weight_decay": "0.5"}, "training.optimizer": nil, "num_workers": true}},
		"names that it does not have":  {map[string]any{"output": long, "training": map[string]any{"weight": []any{1}}, "no_group": map[string]any{"a": 1}}, map[string]any{"output": nil, "training": map[string]any{"weight": nil}, "no_group": nil}},
		"a name that is too long":      {map[string]any{long: 1}, map[string]any{strings.Repeat("x", 40) + "…": nil}},
		"lists and objects for values": {map[string]any{"epochs": []any{long}, "run_name": map[string]any{"a": long}, "training": map[string]any{"weight_decay": []any{long}}}, map[string]any{"epochs": []any{}, "run_name": map[string]any{}, "training": map[string]any{"weight_decay": []any{}}}},
		"texts that are too long":      {map[string]any{"run_name": long, "epochs": long}, map[string]any{"run_name": strings.Repeat("x", 1000) + "…", "epochs": strings.Repeat("x", 1000) + "…"}},
		"a number that is too long":    {map[string]any{"epochs": json.Number(strings.Repeat("7", 2000))}, map[string]any{"epochs": strings.Repeat("7", 1000) + "…"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, info.Keep(tc.raw))
		})
	}
	many := map[string]any{}
	for n := range 1000 {
		many[fmt.Sprint("unknown ", n)] = n
	}
	require.Len(t, info.Keep(many), 20)
	_, warnings, err := info.Parameters(info.Keep(many))
	require.NoError(t, err)
	require.Len(t, warnings, 20)
}

func TestKeptParametersMeanTheSame(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]map[string]any{
		"a name with a line break is none of the form": {"epochs\n": 9.0, "epochs": 5.0},
		"the fields of a group, everywhere":            {"training": map[string]any{"weight_decay": 0.5}, "weight_decay": 0.25, "training.weight_decay": "1"},
		"a text of blanks":                             {"run_name": strings.Repeat(" ", 5000) + "a"},
		"a text that is too long":                      {"run_name": strings.Repeat("a ", 5000), "epochs": strings.Repeat("1", 5000), "use_gpu": strings.Repeat("yes", 5000)},
		"values of the wrong type":                     {"epochs": []any{1}, "run_name": map[string]any{"a": 1}, "training": []any{}, "use_gpu": []any{}},
		"something unknown":                            {"output": 1.0, "training": map[string]any{"weight": 1.0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := advancedInfo(t)
			requireSame(t, info, raw)
		})
	}
}

// requireSame compares the results of Parameters before and after Keep.
func requireSame(t *testing.T, info *form.Info, raw map[string]any) {
	t.Helper()
	before, warnings, err := info.Parameters(raw)
	kept := info.Keep(raw)
	after, keptWarnings, keptErr := info.Parameters(kept)
	require.Equal(t, err == nil, keptErr == nil, "%v and %v", err, keptErr)
	if err != nil {
		require.Equal(t, err.Error(), keptErr.Error())
	}
	require.Equal(t, before, after)
	if len(warnings) < 10 {
		require.Equal(t, slices.Compact(warnings), slices.Compact(keptWarnings))
	}
	require.Equal(t, kept, info.Keep(kept), "once is enough")
}

func FuzzKeep(f *testing.F) {
	for _, seed := range []string{
		`{"epochs":"5","training":{"weight_decay":[1],"x":{}}}`, `{"training.optimizer":"adamw","weight_decay":1e400," epochs":1}`, `{"run_name":"\u0000a\n","training":3}`,
	} {
		f.Add([]byte(seed))
	}
	info := advancedInfo(f)
	f.Fuzz(func(t *testing.T, doc []byte) {
		dec := json.NewDecoder(bytes.NewReader(doc))
		dec.UseNumber()
		var raw map[string]any
		if dec.Decode(&raw) != nil {
			return
		}
		kept, err := json.Marshal(info.Keep(raw))
		require.NoError(t, err)
		require.Less(t, len(kept), 200_000)
		if len(doc) < 500 { // longer values may be cut
			requireSame(t, info, raw)
		}
	})
}
