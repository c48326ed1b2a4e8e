package message

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
)

const (
	// maxBody is the size in bytes of the largest message that is accepted. Clowder v1 puts metadata into messages, so some are
	// large; a message with parameters and ids stays under 10 kB.
	maxBody = 4 << 20
	// maxScanned is the size of the largest message in which the job id is searched, so that its user gets an answer.
	maxScanned = 32 << 20
	// maxFields limits the fields of a message, and maxFieldName the length of their names in bytes. Messages of Clowder have about
	// thirty fields.
	maxFields    = 1000
	maxFieldName = 1000
	// maxText is the size of the longest text that is read from a field, in bytes of JSON.
	maxText = 64 << 10
	// maxNotifies limits the number of addresses, and maxAddress their length.
	maxNotifies = 20
	maxAddress  = 254
)

// jobIDNames are the fields that may have the job id. The first one with a value counts.
var jobIDNames = []string{"job_id", "jobid", "msgid"}

// fields reads values of a message by one of several names and keeps the first error. Values are decoded when they are read.
type fields struct {
	object map[string]json.RawMessage
	fault  error
}

// parseObject reads the fields of a body that is one JSON object. Of several fields with one name the last one counts.
func parseObject(data []byte) (*fields, error) {
	if len(data) > maxScanned {
		return nil, fmt.Errorf("is larger than %d bytes", maxBody)
	}
	doc, err := jsonscan.Document(data)
	if err != nil {
		return nil, err
	}
	if doc[0] != '{' {
		return nil, fmt.Errorf("is %s and not a JSON object", jsonscan.Kind(doc))
	}
	f := &fields{object: make(map[string]json.RawMessage)}
	if len(data) > maxBody {
		f.failf("it has %d bytes, the limit is %d: submit again with fewer parameters", len(data), maxBody)
	}
	count := 0
	for quoted, value := range jsonscan.Members(doc) {
		if len(quoted) > maxFieldName {
			f.failf("one of its field names has %d bytes, the limit is %d", len(quoted), maxFieldName)
			continue
		}
		if count++; count > maxFields {
			f.failf("it has more than %d fields", maxFields)
			if !slices.Contains(jobIDNames, strings.Trim(string(quoted), `"`)) { // the user of the job gets the error
				continue
			}
		}
		var name string
		_ = json.Unmarshal(quoted, &name) // it is valid
		f.object[name] = value
	}
	return f, nil
}

func (f *fields) failf(format string, args ...any) {
	if f.fault == nil {
		f.fault = fmt.Errorf(format, args...)
	}
}

// has reports whether one of the keys exists, with any value.
func (f *fields) has(keys ...string) bool {
	for _, key := range keys {
		if _, ok := f.object[key]; ok {
			return true
		}
	}
	return false
}

// text returns the first non-empty text of the keys. A number counts as the text of its digits. Another type, or a text that is too
// long, is an error.
func (f *fields) text(keys ...string) string {
	for _, key := range keys {
		raw, ok := f.object[key]
		if !ok || raw[0] == 'n' {
			continue
		}
		text, ok := rawText(raw)
		switch {
		case ok && text != "":
			return text
		case ok:
		case len(raw) > maxText:
			f.failf("its %s has %d bytes, the limit is %d", key, len(raw), maxText)
		default:
			f.failf("its %s is %s and not a text", key, jsonscan.Kind(raw))
		}
	}
	return ""
}

// rawText decodes a text and trims it, or returns the digits of a number. It reports false for other types and for long values.
func rawText(raw json.RawMessage) (string, bool) {
	switch {
	case len(raw) > maxText:
		return "", false
	case raw[0] == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // it is valid
		return strings.TrimSpace(text), true
	default:
		return string(raw), raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
	}
}

// count returns a whole number, which may be written as a text. Any other value is 0.
func (f *fields) count(key string) int {
	raw, ok := f.object[key]
	if !ok {
		return 0
	}
	text, _ := rawText(raw)
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// addresses returns a list of texts, which may be written as one text with commas. It skips other members, and texts that are too many
// or too long.
func (f *fields) addresses(key string) []string {
	raw, ok := f.object[key]
	if !ok {
		return nil
	}
	var out []string
	for text := range listedTexts(raw) {
		if text = strings.TrimSpace(text); text != "" && len(text) <= maxAddress {
			out = append(out, text)
		}
		if len(out) == maxNotifies {
			break
		}
	}
	return out
}

// listedTexts iterates over the parts of one text with commas, or over the texts of a list that is not too long.
func listedTexts(raw json.RawMessage) iter.Seq[string] {
	switch {
	case raw[0] == '"':
		text, _ := rawText(raw)
		return strings.SplitSeq(text, ",")
	case raw[0] == '[' && len(raw) <= maxText:
		return textsOf(raw)
	default:
		return func(func(string) bool) {}
	}
}

// textsOf iterates over the texts of a list and skips its other members.
func textsOf(list json.RawMessage) iter.Seq[string] {
	return func(yield func(string) bool) {
		for member := range jsonscan.Items(list) {
			if text, ok := rawText(member); ok && member[0] == '"' && !yield(text) {
				return
			}
		}
	}
}
