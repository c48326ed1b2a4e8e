package clowder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"
)

const (
	// maxBody is the largest message that is taken, in bytes. Clowder v1 puts metadata into messages, so some are big;
	// one of parameters and ids stays under 10 kB.
	maxBody = 4 << 20
	// maxScanned is the largest message in which the id of the job is looked for, so that its user can be told.
	maxScanned = 32 << 20
	// maxDepth is how deep objects and lists may be nested.
	maxDepth = 64
)

// parseDocument checks that data is one JSON value with nothing after it and returns that value as it is written. It decodes
// nothing: decoded, a document can be a hundred times as large. Bytes that are not UTF-8 are read as Latin-1, as pyclowder
// does: Clowder v1 writes in the charset of its Java machine.
func parseDocument(data []byte) (json.RawMessage, error) {
	if len(data) > maxScanned {
		return nil, fmt.Errorf("is larger than %d bytes", maxBody)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		data = latin1ToUTF8(data)
	}
	if depth, _ := measure(data); depth > maxDepth {
		return nil, fmt.Errorf("is nested deeper than %d levels", maxDepth)
	}
	data = skipBlanks(data)
	end := valueEnd(data)
	if !json.Valid(data[:end]) {
		return nil, errors.New("is not valid JSON")
	}
	if len(skipBlanks(data[end:])) > 0 {
		return nil, errors.New("has more text after its JSON")
	}
	return data[:end], nil
}

// measure tells how deep the brackets outside of texts are nested, and about how many values data holds. It runs before any
// decoder, because those recurse and take memory for each value.
func measure(data []byte) (depth, values int) {
	values = 1
	for open, i := 0, 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i += textEnd(data[i:]) - 1
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

// members goes through an object that is valid JSON without decoding its values.
func members(object json.RawMessage) iter.Seq2[json.RawMessage, json.RawMessage] {
	return func(yield func(name, value json.RawMessage) bool) {
		for rest := skipBlanks(object[1:]); rest[0] != '}'; {
			end := textEnd(rest)
			name := rest[:end]
			rest = skipBlanks(skipBlanks(rest[end:])[1:]) // the colon
			end = valueEnd(rest)
			if !yield(name, rest[:end]) {
				return
			}
			rest = afterComma(rest[end:])
		}
	}
}

// items goes through a list that is valid JSON without decoding its values.
func items(list json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for rest := skipBlanks(list[1:]); rest[0] != ']'; {
			end := valueEnd(rest)
			if !yield(rest[:end]) {
				return
			}
			rest = afterComma(rest[end:])
		}
	}
}

func afterComma(data []byte) []byte {
	if data = skipBlanks(data); data[0] == ',' {
		return skipBlanks(data[1:])
	}
	return data
}

// valueEnd returns how many bytes of data its first value takes. Where data is no JSON it returns some number that is no
// greater than its length.
func valueEnd(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			if i += textEnd(data[i:]) - 1; depth == 0 {
				return i + 1
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + min(1, depth+1)
			}
		case depth == 0 && (c == ',' || c == ':' || isBlank(c)):
			return i
		}
	}
	return len(data)
}

// textEnd returns how many bytes of data the text takes with whose quote it begins.
func textEnd(data []byte) int {
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

func skipBlanks(data []byte) []byte {
	for len(data) > 0 && isBlank(data[0]) {
		data = data[1:]
	}
	return data
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func latin1ToUTF8(data []byte) []byte {
	out := make([]byte, 0, 2*len(data))
	for _, b := range data {
		out = utf8.AppendRune(out, rune(b))
	}
	return out
}
