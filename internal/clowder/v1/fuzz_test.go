package v1

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzDetail(f *testing.F) {
	for _, seed := range []string{
		"", "Not authorized", "No files uploaded", `"a text"`, `{"message":"m"}`, `{"message":{"obj.version":[]}}`, `{"status":"KO","msg":"m"}`, `{"exception":"java"}`, "<html>", "[1]", "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if said := detail(body); strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
			require.Empty(t, said)
		}
	})
}

func FuzzFileRow(f *testing.F) {
	for _, seed := range []string{
		`{"id":"6b0317000000000000000001","filename":"a","size":"8"}`, `{"size":8}`, `{"size":"-8"}`, `{"size":null}`, `{"size":{}}`, `{"folders":{"id":"x"}}`, `{"folders":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var row fileRow
		if json.Unmarshal(raw, &row) == nil {
			require.GreaterOrEqual(t, int64(row.Size), int64(0))
		}
	})
}

func FuzzPathOf(f *testing.F) {
	f.Add("runs", "runs/a", "runs/a/b")
	f.Add("", "/", "a//b")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		list := []folder{{"1", a}, {"2", b}, {"3", c}}
		for _, one := range list {
			path := pathOf(one.id, list)
			require.Len(t, path, len(one.path), "only slashes change")
			require.LessOrEqual(t, strings.Count(path, "/"), strings.Count(one.path, "/"))
		}
	})
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"id":"x","content":{"a":1},"@context":["http://a",{"b":"http://b"}],"agent":{"extractor_id":"http://x/extractors/n/1"},"created_at":"Sun Nov 22 16:24:52 UTC 2026"}`))
	f.Add([]byte(`{"@context":"http://a","agent":{"extractor_id":"/extractors/"}}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var row entryRow
		if json.Unmarshal(raw, &row) == nil {
			_ = row.metadata()
		}
	})
}

func TestContentIsWhatMongoDBTakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content any
		want    string
	}{
		"keys with dots":             {map[string]any{"f1.macro": map[string]any{"a.b.c": 1}}, `{"f1_macro":{"a_b_c":1}}`},
		"keys with a dollar sign":    {map[string]any{"$set": 1, "a$": 2}, `{"_set":1,"a$":2}`},
		"large numbers":              {map[string]any{"a": 1e20, "b": -1e19, "c": 1e300, "d": 12.5, "e": int64(1 << 62)}, `{"a":1e+20,"b":-1e+19,"c":1e+300,"d":12.5,"e":4611686018427387904}`},
		"large numbers from JSON":    {map[string]any{"a": json.Number("100000000000000000000"), "b": json.Number("7")}, `{"a":1e+20,"b":7}`},
		"structures of the service":  {map[string]any{"a": struct{ B map[string]uint64 }{map[string]uint64{"x.y": 1 << 63}}, "c": []string{"d.e"}}, `{"a":{"B":{"x_y":9.223372036854775808e+18}},"c":["d.e"]}`},
		"lists, texts, null, yes/no": {map[string]any{"a": []any{"b.c", nil, true, map[string]any{"d.e": 1}}}, `{"a":["b.c",null,true,{"d_e":1}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(storable(tc.content))
			require.NoError(t, err)
			require.JSONEq(t, tc.want, string(body))
			require.NotContains(t, string(body), "00000000000")
		})
	}
}
