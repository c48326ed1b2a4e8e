package clowder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxBody is the largest message that is looked at, in bytes. Clowder v1 puts metadata into messages, so some are big;
	// one of parameters and ids stays under 10 kB.
	maxBody = 4 << 20
	// maxDepth is how deep objects and lists may be nested.
	maxDepth = 64
)

// parseObject reads one JSON object and nothing after it. Numbers stay json.Number, so that big ids lose no digit.
// Bytes that are not UTF-8 are read as Latin-1, as pyclowder does: Clowder v1 writes in the charset of its Java machine.
func parseObject(data []byte) (map[string]any, error) {
	value, err := parseValue(data)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is %s and not a JSON object", kindOf(value))
	}
	return object, nil
}

func parseValue(data []byte) (any, error) {
	if len(data) > maxBody {
		return nil, fmt.Errorf("is larger than %d bytes", maxBody)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		data = latin1ToUTF8(data)
	}
	if err := checkDepth(data); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, errors.New("is not valid JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more text after its JSON")
	}
	return value, nil
}

// checkDepth walks over the brackets outside of strings. It runs before the decoder because that one recurses.
func checkDepth(data []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("is nested deeper than %d levels", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

func latin1ToUTF8(data []byte) []byte {
	out := make([]rune, len(data))
	for i, b := range data {
		out[i] = rune(b)
	}
	return []byte(string(out))
}

// kindOf names the JSON type of a decoded value in words.
func kindOf(value any) string {
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

// fields reads values out of a message by several names and remembers the first fault.
type fields struct {
	object map[string]any
	fault  error
}

func (f *fields) failf(format string, args ...any) {
	if f.fault == nil {
		f.fault = fmt.Errorf(format, args...)
	}
}

// has reports whether one of the keys is there, whatever its value.
func (f *fields) has(keys ...string) bool {
	for _, key := range keys {
		if _, ok := f.object[key]; ok {
			return true
		}
	}
	return false
}

// text returns the first of the keys that holds a non-empty text; a number counts as its digits. Any other type is a fault.
func (f *fields) text(keys ...string) string {
	for _, key := range keys {
		switch value := f.object[key].(type) {
		case nil:
		case string:
			if value = strings.TrimSpace(value); value != "" {
				return value
			}
		case json.Number:
			return value.String()
		default:
			f.failf("its %s is %s and not a text", key, kindOf(value))
		}
	}
	return ""
}

// count returns a whole number that may be written as a text; anything else counts as 0.
func (f *fields) count(key string) int {
	text := ""
	switch value := f.object[key].(type) {
	case json.Number:
		text = value.String()
	case string:
		text = strings.TrimSpace(value)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// list returns a list of texts that may be written as one text with commas; other members are left out.
func (f *fields) list(key string) []string {
	var out []string
	switch value := f.object[key].(type) {
	case string:
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	case []any:
		for _, member := range value {
			if text, ok := member.(string); ok && strings.TrimSpace(text) != "" {
				out = append(out, strings.TrimSpace(text))
			}
		}
	}
	return out
}
