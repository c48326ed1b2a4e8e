package message

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
)

// maxCanonical is how many bytes of a message are written in canonical form before they are hashed. Ordinary messages are far smaller.
// Of larger ones, only the blanks outside of texts are normalised.
const maxCanonical = 128 << 10

// bodyHash is the sha256 of the message in canonical form, without the fields that differ between deliveries of one request. The
// canonical form is what encoding/json writes for the decoded object, with sorted names. It must not change, because records keep it:
// a message that is delivered again after an upgrade would become another job.
func bodyHash(object map[string]json.RawMessage) string {
	sum := sha256.New()
	out := bufio.NewWriter(sum) // neither can fail
	left, separator := maxCanonical, byte('{')
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name == "secretKey" || name == "retry_count" {
			continue
		}
		_ = out.WriteByte(separator)
		separator = ','
		writeJSON(out, name)
		_ = out.WriteByte(':')
		value := object[name]
		if len(value) <= left {
			left -= len(value)
			writeJSON(out, jsonscan.Decode(value))
			continue
		}
		writeCompact(out, value)
	}
	if separator == '{' {
		_ = out.WriteByte(separator)
	}
	_, _ = out.WriteString("}\n")
	_ = out.Flush()
	return hex.EncodeToString(sum.Sum(nil))
}

// writeJSON encodes a value that was decoded from JSON, which cannot fail. Encoding sorts the names of each object.
func writeJSON(out *bufio.Writer, value any) {
	doc, _ := json.Marshal(value)
	_, _ = out.Write(doc)
}

// writeCompact writes a value without the blanks outside of texts.
func writeCompact(out *bufio.Writer, value json.RawMessage) {
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			end := i + jsonscan.TextEnd(value[i:])
			_, _ = out.Write(value[i:end])
			i = end - 1
		case !jsonscan.IsBlank(c):
			_ = out.WriteByte(c)
		}
	}
}
