package jsonscan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

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
