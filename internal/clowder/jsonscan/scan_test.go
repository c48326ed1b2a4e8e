package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMembersAndItemsAreWalkedAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string][]string{
		`{}`: nil, ` { } `: nil, `[]`: nil, "[\n]": nil,
		`{"a":1}`:                          {`"a"`, `1`},
		`{"a":1,"a":2}`:                    {`"a"`, `1`, `"a"`, `2`},
		`{ "a" : [1, 2] , "b" : {"c":3} }`: {`"a"`, `[1, 2]`, `"b"`, `{"c":3}`},
		`{"":"","\u0061":null}`:            {`""`, `""`, `"\u0061"`, `null`},
		`{"a\"}":"]\\","b":"{"}`:           {`"a\"}"`, `"]\\"`, `"b"`, `"{"`},
		`{"ä":"日本","x":-1.5e-3}`:           {`"ä"`, `"日本"`, `"x"`, `-1.5e-3`},
		`[1,"a,b",[2,[3]],{"c":[4]},null]`: {`1`, `"a,b"`, `[2,[3]]`, `{"c":[4]}`, `null`},
		"[\t1 ,\r\n2\t]":                   {`1`, `2`},
		`[[],{},""]`:                       {`[]`, `{}`, `""`},
		`[12345678901234567890]`:           {`12345678901234567890`},
	} {
		value, err := Document([]byte(doc))
		require.NoError(t, err, doc)
		var got []string
		if value[0] == '{' {
			for name, member := range Members(value) {
				got = append(got, string(name), string(member))
			}
		} else {
			for item := range Items(value) {
				got = append(got, string(item))
			}
		}
		require.Equal(t, want, got, doc)
	}
}

func TestAWalkMayEndEarly(t *testing.T) {
	t.Parallel()
	for item := range Items(json.RawMessage(`[1,2,3]`)) {
		if string(item) == "2" {
			break
		}
		require.Equal(t, "1", string(item))
	}
	for name := range Members(json.RawMessage(`{"a":1,"b":2}`)) {
		require.Equal(t, `"a"`, string(name))
		break
	}
}

func TestADocumentIsMeasuredWithoutADecoder(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]struct{ depth, values int }{
		"": {0, 1}, `1`: {0, 1}, `"[[["`: {0, 1}, `"a\"[["`: {0, 1}, `[]`: {1, 2}, `[1,2,3]`: {1, 4}, `{"a":{"b":[1]}}`: {3, 4},
		`[[],[],[]]`: {2, 7}, `{"a,b":","}`: {1, 2}, `[[[`: {3, 4}, `]]]`: {0, 1}, `]][[`: {0, 3}, `"no end`: {0, 1}, `"\`: {0, 1},
	} {
		depth, values := Measure([]byte(doc))
		require.Equal(t, want.depth, depth, "depth of %s", doc)
		require.Equal(t, want.values, values, "values of %s", doc)
	}
}

func TestADocumentMayBeNestedToALimit(t *testing.T) {
	t.Parallel()
	nested := func(depth int) []byte { return []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)) }
	doc, err := Document(nested(maxDepth))
	require.NoError(t, err)
	require.Equal(t, string(nested(maxDepth)), string(doc))
	for name, data := range map[string][]byte{
		"a level deeper": nested(maxDepth + 1), "without an end": []byte(strings.Repeat("[", 1_000_000)), "of objects": []byte(strings.Repeat(`{"a":`, maxDepth+1)),
	} {
		_, err := Document(data)
		require.EqualError(t, err, "is nested deeper than 64 levels", name)
	}
	_, err = Document([]byte(`"` + strings.Repeat("[", 1000) + `"`))
	require.NoError(t, err, "brackets in a text do not count")
}

func TestADocumentOfStrangersIsRefusedUnlessItIsWhole(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"\xef\xbb\xbf": "is not valid JSON", " \n ": "is not valid JSON", "nul": "is not valid JSON", "01": "is not valid JSON", "'a'": "is not valid JSON",
		`{"a":1,}`: "is not valid JSON", `{"a"}`: "is not valid JSON", `{a:1}`: "is not valid JSON", `[1 2]`: "is not valid JSON", `"a`: "is not valid JSON",
		"\"a\nb\"": "is not valid JSON", `"\x"`: "is not valid JSON", "[1]\x00": "has more text after its JSON", "NaN": "is not valid JSON", "{]": "is not valid JSON",
		`{"a":1}]`: "has more text after its JSON", `"a""b"`: "has more text after its JSON", "1,2": "has more text after its JSON", "// a\n1": "is not valid JSON",
	} {
		_, err := Document([]byte(data))
		require.EqualError(t, err, want, "%q", data)
	}
	for data, want := range map[string]string{
		"{\"stra\xdfe\":\"\xe9\"}": `{"straße":"é"}`, "\"\x80\"": "\"\u0080\"", `{"straße":1}`: `{"straße":1}`, "\xef\xbb\xbf[1]\n": "[1]",
	} {
		doc, err := Document([]byte(data))
		require.NoError(t, err, "%q", data)
		require.Equal(t, want, string(doc), "%q", data)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"]\"}"}]}`, `[[],"",{}]`, ` 1 2`, `"`, `"\`, `}`, `:`, `{"a"`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		require.LessOrEqual(t, valueEnd(data), len(data))
		depth, values := Measure(data)
		require.LessOrEqual(t, depth, values)
		doc, err := Document(data)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.True(t, json.Valid(doc))
		switch doc[0] {
		case '{':
			for name, value := range Members(doc) {
				require.True(t, json.Valid(name) && json.Valid(value))
			}
		case '[':
			var decoded []json.RawMessage
			require.NoError(t, json.Unmarshal(doc, &decoded))
			n := 0
			for item := range Items(doc) {
				require.Equal(t, string(decoded[n]), string(item))
				n++
			}
			require.Len(t, decoded, n)
		}
	})
}
