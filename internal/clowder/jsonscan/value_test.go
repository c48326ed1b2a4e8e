package jsonscan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBothKindsOfAValueAgree(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`null`: "null", `""`: "a text", `"1"`: "a text", `1`: "a number", `-1.5e3`: "a number", `true`: "true or false", `false`: "true or false",
		`[]`: "a list", `[{}]`: "a list", `{}`: "an object",
	} {
		require.Equal(t, want, Kind(json.RawMessage(doc)), doc)
		require.Equal(t, want, KindOf(Decode(json.RawMessage(doc))), doc)
	}
	require.Equal(t, "a number", KindOf(1))
	require.Equal(t, "a number", KindOf(int64(1)))
	require.Equal(t, "a number", KindOf(1.5))
}

func TestLargeNumbersLoseNoDigit(t *testing.T) {
	t.Parallel()
	require.Equal(t, json.Number("12345678901234567890"), Decode(json.RawMessage(`12345678901234567890`)))
}

func TestADocumentIsOneValue(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"\xef\xbb\xbf {\"a\":1} ": `{"a":1}`,
		"\"\xdf\"":                `"ß"`, // Latin-1
		" 1 ":                     `1`,
	} {
		doc, err := Document([]byte(data))
		require.NoError(t, err, data)
		require.JSONEq(t, want, string(doc))
	}
	for data, want := range map[string]string{
		"":      "is not valid JSON",
		"{":     "is not valid JSON",
		"1 2":   "has more text after its JSON",
		"[]]":   "has more text after its JSON",
		"{} {}": "has more text after its JSON",
	} {
		_, err := Document([]byte(data))
		require.EqualError(t, err, want, data)
	}
}
