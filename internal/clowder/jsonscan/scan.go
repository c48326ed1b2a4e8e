package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"
)

// maxDepth is how deep objects and lists may be nested.
const maxDepth = 64

// Document checks that data is one JSON value with nothing after it and returns that value as it is written. Bytes that are not
// UTF-8 are read as Latin-1, as pyclowder does: Clowder v1 writes in the charset of its Java machine. Errors are meant to follow
// the name of the document: "is not valid JSON".
func Document(data []byte) (json.RawMessage, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		data = latin1ToUTF8(data)
	}
	if depth, _ := Measure(data); depth > maxDepth {
		return nil, fmt.Errorf("is nested deeper than %d levels", maxDepth)
	}
	data = SkipBlanks(data)
	end := valueEnd(data)
	if !json.Valid(data[:end]) {
		return nil, errors.New("is not valid JSON")
	}
	if len(SkipBlanks(data[end:])) > 0 {
		return nil, errors.New("has more text after its JSON")
	}
	return data[:end], nil
}

// Measure returns how deep the brackets outside of texts are nested, and about how many values data holds. Call it before any
// decoder, because decoders recurse and take memory for each value.
func Measure(data []byte) (depth, values int) {
	values = 1
	for open, i := 0, 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i += TextEnd(data[i:]) - 1
		case '{', '[':
			open++
			values++
			depth = max(depth, open)
		case '}', ']':
			open--
		case ',':
			values++
		}
	}
	return depth, values
}

// Members iterates over the names and values of an object that is valid JSON, without decoding them.
func Members(object json.RawMessage) iter.Seq2[json.RawMessage, json.RawMessage] {
	return func(yield func(name, value json.RawMessage) bool) {
		for rest := SkipBlanks(object[1:]); rest[0] != '}'; {
			end := TextEnd(rest)
			name := rest[:end]
			rest = SkipBlanks(SkipBlanks(rest[end:])[1:]) // the colon
			end = valueEnd(rest)
			if !yield(name, rest[:end]) {
				return
			}
			rest = afterComma(rest[end:])
		}
	}
}

// Items iterates over the values of a list that is valid JSON, without decoding them.
func Items(list json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for rest := SkipBlanks(list[1:]); rest[0] != ']'; {
			end := valueEnd(rest)
			if !yield(rest[:end]) {
				return
			}
			rest = afterComma(rest[end:])
		}
	}
}

func afterComma(data []byte) []byte {
	if data = SkipBlanks(data); data[0] == ',' {
		return SkipBlanks(data[1:])
	}
	return data
}

// valueEnd returns the length in bytes of the first value of data. Where data is not JSON, the result is any number up to its
// length.
func valueEnd(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			if i += TextEnd(data[i:]) - 1; depth == 0 {
				return i + 1
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + min(1, depth+1)
			}
		case depth == 0 && (c == ',' || c == ':' || IsBlank(c)):
			return i
		}
	}
	return len(data)
}

// TextEnd returns the length in bytes of the text at the beginning of data, its quotes included.
func TextEnd(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// SkipBlanks returns data without the blanks at its beginning.
func SkipBlanks(data []byte) []byte {
	for len(data) > 0 && IsBlank(data[0]) {
		data = data[1:]
	}
	return data
}

// IsBlank reports whether JSON allows c between its tokens.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func latin1ToUTF8(data []byte) []byte {
	out := make([]byte, 0, 2*len(data))
	for _, b := range data {
		out = utf8.AppendRune(out, rune(b))
	}
	return out
}
