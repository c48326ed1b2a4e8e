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

// maxCanonical is up to how many bytes of a message are brought into one spelling before they are hashed. Ordinary messages
// are far below; of what is beyond, only the blanks outside of texts do not count.
const maxCanonical = 128 << 10

// bodyHash is sha256 over the message in one canonical spelling, without what differs between deliveries of one request: what
// encoding/json writes for the decoded object, with sorted names. It must not change, because records keep it: a message that
// is delivered again after an upgrade would become another job.
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

// writeJSON writes what was decoded from JSON, which can always be encoded again. Encoding sorts the names of every object.
func writeJSON(out *bufio.Writer, value any) {
	doc, _ := json.Marshal(value)
	_, _ = out.Write(doc)
}

// writeCompact writes a value as it is, without the blanks outside of texts.
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
