package message

import (
	"encoding/json"
	"fmt"
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
	// maxFields is how many fields a message may have, and maxFieldName how long the name of one may be, in bytes. Those of
	// Clowder have about thirty.
	maxFields    = 1000
	maxFieldName = 1000
	// maxText is the longest text that is read from a field, in bytes as it is written.
	maxText = 64 << 10
	// maxNotifies is how many addresses are kept, and maxAddress how long each may be.
	maxNotifies = 20
	maxAddress  = 254
)

// jobIDNames are the fields that may hold the job id, the first of them that does counts.
var jobIDNames = []string{"job_id", "jobid", "msgid"}

// fields reads values out of a message by several names and remembers the first fault. The values stay as they are written
// until they are asked for.
type fields struct {
	object map[string]json.RawMessage
	fault  error
}

// parseObject reads the fields of a body that is one JSON object. Of fields of the same name the last one counts.
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
		f.failf("it has %d bytes, at most %d are taken: submit again with fewer parameters", len(data), maxBody)
	}
	count := 0
	for quoted, value := range jsonscan.Members(doc) {
		if len(quoted) > maxFieldName {
			f.failf("one of its fields has a name of %d bytes, which none has that Clowder sends", len(quoted))
			continue
		}
		if count++; count > maxFields {
			f.failf("it has more than %d fields, which no message of Clowder has", maxFields)
			if !slices.Contains(jobIDNames, strings.Trim(string(quoted), `"`)) { // whose user is told
				continue
			}
		}
		var name string
		_ = json.Unmarshal(quoted, &name) // it was checked before
		f.object[name] = value
	}
	return f, nil
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

// text returns the first of the keys that holds a non-empty text; a number counts as its digits. Any other type, and a text
// that is too long, is a fault.
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
			f.failf("its %s has %d bytes, at most %d are read", key, len(raw), maxText)
		default:
			f.failf("its %s is %s and not a text", key, jsonscan.Kind(raw))
		}
	}
	return ""
}

// rawText decodes a text, without blanks around it, or the digits of a number, that is not too long.
func rawText(raw json.RawMessage) (string, bool) {
	switch {
	case len(raw) > maxText:
		return "", false
	case raw[0] == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // it was checked before
		return strings.TrimSpace(text), true
	default:
		return string(raw), raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
	}
}

// count returns a whole number that may be written as a text; anything else counts as 0.
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

// addresses returns a list of texts that may be written as one text with commas; other members are left out, and what is too
// many or too long.
func (f *fields) addresses(key string) []string {
	raw, ok := f.object[key]
	if !ok {
		return nil
	}
	var out []string
	keep := func(text string) bool {
		if text = strings.TrimSpace(text); text != "" && len(text) <= maxAddress {
			out = append(out, text)
		}
		return len(out) < maxNotifies
	}
	switch raw[0] {
	case '"':
		text, _ := rawText(raw)
		for part := range strings.SplitSeq(text, ",") {
			if !keep(part) {
				break
			}
		}
	case '[':
		if len(raw) > maxText {
			return nil
		}
		for member := range jsonscan.Items(raw) {
			if text, ok := rawText(member); ok && member[0] == '"' && !keep(text) {
				break
			}
		}
	}
	return out
}
