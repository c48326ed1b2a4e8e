package form

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func orderedOf(t *testing.T, doc string) ordered {
	t.Helper()
	var o ordered
	require.NoError(t, json.Unmarshal([]byte(doc), &o))
	return o
}

// requireDoc compares an object with its text, with the order of its members.
func requireDoc(t *testing.T, want string, o ordered, name string) {
	t.Helper()
	doc, err := json.Marshal(o)
	require.NoError(t, err, name)
	require.Equal(t, want, string(doc), name)
}

func TestAnObjectKeepsTheOrderOfItsMembers(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{}`: `{}`, `{ "z" : 1 , "a" : [ 2, 3 ] }`: `{"z":1,"a":[2,3]}`, `{"b":null,"":{"y":1,"x":2}}`: `{"b":null,"":{"y":1,"x":2}}`,
		`{"n":12345678901234567890,"f":1.50}`: `{"n":12345678901234567890,"f":1.50}`, `{"\u0061\"":"\u0062"}`: `{"a\"":"\u0062"}`,
	} {
		requireDoc(t, want, orderedOf(t, doc), doc)
	}
	for doc, want := range map[string]string{
		`[]`: "is not an object", `1`: "is not an object", `"a"`: "is not an object", `{"a":1,"b":2,"a":3}`: "has a twice", `{"a":null,"a":null}`: "has a twice",
		`{"a":1,"\u0061":2}`: "has a twice",
	} {
		var o ordered
		require.EqualError(t, json.Unmarshal([]byte(doc), &o), want, doc)
	}
}

func TestAnEditChangesOneValueInACopy(t *testing.T) {
	t.Parallel()
	const doc = `{"z":{"b":{"y":1,"x":2},"a":0},"k":"v"}`
	for name, tc := range map[string]struct {
		path []string
		name string
		want string
	}{
		"a member":               {nil, "k", `{"z":{"b":{"y":1,"x":2},"a":0},"k":[7]}`},
		"an object":              {nil, "z", `{"z":[7],"k":"v"}`},
		"a new member":           {nil, "n", `{"z":{"b":{"y":1,"x":2},"a":0},"k":"v","n":[7]}`},
		"a member a level lower": {[]string{"z"}, "a", `{"z":{"b":{"y":1,"x":2},"a":[7]},"k":"v"}`},
		"two levels lower":       {[]string{"z", "b"}, "y", `{"z":{"b":{"y":[7],"x":2},"a":0},"k":"v"}`},
		"a new one there":        {[]string{"z", "b"}, "w", `{"z":{"b":{"y":1,"x":2,"w":[7]},"a":0},"k":"v"}`},
	} {
		before := orderedOf(t, doc)
		after, err := before.edit(tc.path, tc.name, json.RawMessage(`[7]`))
		require.NoError(t, err, name)
		requireDoc(t, tc.want, after, name)
		requireDoc(t, doc, before, name+" leaves the original")
	}
	for want, path := range map[string][]string{
		"missing: unexpected end of JSON input": {"missing"}, "other: unexpected end of JSON input": {"z", "other"},
		"nothing: unexpected end of JSON input": {"z", "b", "nothing", "more"},
	} {
		_, err := orderedOf(t, doc).edit(path, "n", json.RawMessage(`1`))
		require.EqualError(t, err, want)
	}
	for _, path := range [][]string{{"k"}, {"z", "a", "deeper"}, {"z", "b", "y"}} {
		_, err := orderedOf(t, doc).edit(path, "n", json.RawMessage(`1`))
		require.ErrorContains(t, err, ": is not an object")
	}
}

func TestV1GetsAListOfFieldsOnlyIfOneHasSeveralLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ doc, want string }{
		"no parameters":           {`{"name":"x"}`, ""},
		"parameters of a text":    {`{"parameters":"x"}`, ""},
		"no schema":               {`{"parameters":{"form":["*"]}}`, ""},
		"a schema of a list":      {`{"parameters":{"schema":[]}}`, ""},
		"one line each":           {`{"parameters":{"schema":{"b":{"type":"string"},"a":{"format":"ClowderFile"}},"form":["*"]}}`, ""},
		"a group with some lines": {`{"parameters":{"schema":{"g":{"properties":{"a":{"format":"textarea"}}}},"form":["*"]}}`, ""},
		"several lines": {
			`{"name":"x","parameters":{"schema":{"b":{"type":"string"},"a":{"format":"textarea"},"c":1},"form":["*"]},"z":1}`,
			`{"name":"x","parameters":{"schema":{"b":{"type":"string"},"a":{"format":"textarea"},"c":1},"form":[{"key":"b"},{"key":"a","type":"textarea"},{"key":"c"}]},"z":1}`,
		},
		"several lines without a form": {
			`{"parameters":{"schema":{"a":{"format":"textarea"}}}}`, `{"parameters":{"schema":{"a":{"format":"textarea"}},"form":[{"key":"a","type":"textarea"}]}}`,
		},
	} {
		if tc.want == "" {
			tc.want = tc.doc
		}
		requireDoc(t, tc.want, withLayout(orderedOf(t, tc.doc)), name)
	}
}
