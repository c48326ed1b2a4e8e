package jsonscan

import (
	"bytes"
	"encoding/json"
)

// Kind returns the JSON type of an undecoded value in words: "a text", "a list".
func Kind(value json.RawMessage) string {
	switch value[0] {
	case 'n':
		return "null"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case '[':
		return "a list"
	case '{':
		return "an object"
	default:
		return "a number"
	}
}

// KindOf returns the JSON type of a decoded value in words.
func KindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case json.Number, float64, int, int64:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

// Decode decodes a value that is valid JSON. Numbers become json.Number, so that large ids lose no digit.
func Decode(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	_ = dec.Decode(&value) // it was checked before
	return value
}
