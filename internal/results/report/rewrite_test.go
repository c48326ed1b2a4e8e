package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// fixedTexts are the fields that choose what a report shows, and those that DecodeResult keeps hostile texts out of.
var fixedTexts = map[string]bool{
	"Kind": true, "Level": true, "Task": true, "Metric": true, "Phase": true, "Split": true, "Image": true, "Stopped": true, "Outputs": true,
	"SHA256": true, "WeightsSHA256": true, "SplitSHA256": true,
}

// rewritten is the report of a golden result in which every text of strangers went through change. A number before each
// keeps equal texts apart, so that no list becomes shorter.
func rewritten(tb testing.TB, name string, change func(string) string) string {
	tb.Helper()
	r, err := results.DecodeResult(resultstest.Golden(tb, name))
	require.NoError(tb, err)
	events, m := resultstest.LikelyEvents(tb, r), resultstest.LikelyMeta(r)
	n := 0
	each := func(s string) string {
		if s == "" {
			return "" // what is not there stays so
		}
		n++
		return strconv.Itoa(n) + change(s)
	}
	baselines := r.Metrics.Baselines
	for _, v := range []any{r, &events, &m} {
		rewrite(reflect.ValueOf(v).Elem(), each)
	}
	for i, role := range []results.Role{results.RoleConstant, results.RoleSimple}[:min(2, len(baselines))] {
		baselines[i].Role = role
	}
	var out bytes.Buffer
	require.NoError(tb, Write(&out, events, r, m))
	return out.String()
}

// rewrite changes every text in v, the keys of maps among them, but not the names of metrics.
func rewrite(v reflect.Value, change func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(change(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			rewrite(v.Elem(), change)
		}
	case reflect.Interface:
		if s, ok := reflect.TypeAssert[string](v); ok {
			v.Set(reflect.ValueOf(change(s)))
		}
	case reflect.Slice:
		if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
			if raw != nil {
				v.SetBytes([]byte(change(string(raw))))
			}
			return
		}
		for i := range v.Len() {
			rewrite(v.Index(i), change)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !fixedTexts[f.Name] {
				rewrite(v.Field(i), change)
			}
		}
	case reflect.Map:
		rewriteMap(v, change)
	default:
	}
}

func rewriteMap(v reflect.Value, change func(string) string) {
	switch m := v.Interface().(type) {
	case map[string]int:
		for _, key := range slices.Sorted(maps.Keys(m)) {
			n := m[key]
			delete(m, key)
			m[change(key)] = n
		}
	case map[string]string:
		for _, key := range slices.Sorted(maps.Keys(m)) {
			m[key] = change(m[key])
		}
	default:
	}
}
