package message

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// decodedHash computes the hash of an ordinary message as the first version did.
func decodedHash(object map[string]any) string {
	delete(object, "secretKey")
	delete(object, "retry_count")
	var canonical bytes.Buffer
	_ = json.NewEncoder(&canonical).Encode(object) // it was decoded from JSON
	sum := sha256.Sum256(canonical.Bytes())
	return hex.EncodeToString(sum[:])
}

func FuzzBodyHash(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"a":[{"b":2,"a":"<\u2028>"}],"":{"z":1e5,"y":-0.0}}`, `{"secretKey":"x","retry_count":1}`, `{ "x" : [ ] , "y" : { } }`, `{"\ud800":"\/"}`, `{"a":"\u0000"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fields, err := parseObject(body)
		var object map[string]any
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		decoded := dec.Decode(&object) == nil && object != nil && !dec.More()
		if err != nil || fields.fault != nil || !decoded || len(body) > maxCanonical || bytes.ContainsRune(body, '�') {
			return
		}
		require.Len(t, object, len(fields.object))
		require.Equal(t, decodedHash(object), bodyHash(fields.object))
	})
}

func TestALongMessageHasOneHash(t *testing.T) {
	t.Parallel()
	hash := func(body string) string {
		f, err := parseObject([]byte(body))
		require.NoError(t, err)
		return bodyHash(f.object)
	}
	long := `"m":{"b":["` + strings.Repeat(`x \"`, maxCanonical/4) + `", 1 ]}`
	first := hash(`{"a":1,` + long + `,"secretKey":"K"}`)
	require.Equal(t, first, hash("{ "+strings.Replace(long, ", 1 ", ",\n1", 1)+`, "retry_count":5, "a" : 1}`), "blanks, order and key do not count")
	require.NotEqual(t, first, hash(`{"a":1,`+strings.Replace(long, "x ", "x", 1)+`}`), "every letter of a text does")
}
