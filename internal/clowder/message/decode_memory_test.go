package message_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
)

// largest is the size of the bodies of hostileBodies. Larger messages are not decoded.
const largest = 4 << 20

// hostileBodies are messages of the largest size that take many times that where they are decoded as they are.
func hostileBodies() map[string]string {
	extra := func(value string) string { return strings.Replace(v2Body, `"flags":""`, `"flags":`+value, 1) }
	fill := func(before, piece, after string) string {
		n := (largest - len(v2Body) - len(before) - len(after)) / len(piece)
		return before + strings.TrimSuffix(strings.Repeat(piece, n), ",") + after
	}
	many := func(piece string) string { return extra(fill(`[`, piece, `]`)) }
	parameters := func(value string) string { return strings.Replace(v2Body, `{"epochs":3}`, value, 1) }
	bodies := map[string]string{
		"wide lists":                       many(`[],`),
		"wide objects":                     many(`{"":{}},`),
		"deep lists":                       many(strings.Repeat("[", 60) + strings.Repeat("]", 60) + ","),
		"deep objects":                     many(strings.Repeat(`{"":`, 60) + "0" + strings.Repeat("}", 60) + ","),
		"many small values":                many(`"",`),
		"a long number":                    extra(fill("", "7", "")),
		"a long text of escapes":           extra(fill(`"`, `\u0001`, `"`)),
		"a long text that grows":           extra(fill(`"`, `<`, `"`)),
		"blanks":                           extra(fill(`[`, ` `, `]`)),
		"a long name":                      strings.Replace(v2Body, `"flags"`, fill(`"`, `<`, `"`), 1),
		"a field thousands of times":       strings.Replace(v2Body, `"flags":""`, fill("", `"flags":[],`, `,"flags":0`), 1),
		"wide parameters":                  parameters(fill(`{"a":[`, `[],`, `]}`)),
		"parameters as a text":             parameters(fill(`"{\"a\":[`, `[],`, `]}"`)),
		"parameters as a text in a text":   parameters(fill(`"\"{\\\"a\\\":[`, `[],`, `]}\""`)),
		"text in text in text":             parameters(fill(`"\"\\\"`, `x`, `\\\"\""`)),
		"notifies of many":                 strings.Replace(v2Body, `"flags":""`, fill(`"notifies":[`, `"",`, `]`), 1),
		"a long host":                      strings.Replace(v2Body, `backend:8000`, fill("", "b", ""), 1),
		"Latin-1":                          strings.Replace(many(`"",`), `""`, "\"\xdf\"", 1),
		"many fields of lists":             strings.Replace(v2Body, `"flags"`, manyFields(900)+`"flags"`, 1),
		"more fields than any message has": strings.Replace(v2Body, `"flags"`, manyFields(20_000)+`"flags"`, 1),
	}
	for name, piece := range map[string]string{"lists": `[],`, "objects": `{"":{}},`, "texts that grow": `"<",`} {
		bodies["as many "+name+" as are brought into one spelling"] = extra("[" + strings.Repeat(piece, (120<<10)/len(piece)) + "0]")
	}
	return bodies
}

// manyFields are n members of an object, each a list of lists, that fill a body.
func manyFields(n int) string {
	var b strings.Builder
	item := "[" + strings.TrimSuffix(strings.Repeat("[],", (largest-len(v2Body))/n/3-8), ",") + "]"
	for i := range n {
		b.WriteString(`"f` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576)) + `":` + item + ",")
	}
	return b.String()
}

// TestAMessageCostsLittleMoreThanItsSize runs alone, because it measures the allocations of the whole process.
//
//nolint:paralleltest // see above
func TestAMessageCostsLittleMoreThanItsSize(t *testing.T) {
	for name, body := range hostileBodies() {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, len(body), largest)
			data := []byte(body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			req, _, err := message.Decode(data, message.Properties{ReplyTo: "r"})
			runtime.ReadMemStats(&after)
			spent := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes took %.1f MB (%v)", len(body), float64(spent)/1e6, err)
			require.Less(t, spent, uint64(32<<20))
			if name != "a long host" && err != nil {
				require.Equal(t, jobID, req.JobID, "its user gets the error")
				require.Equal(t, "r", req.ReplyTo)
			}
		})
	}
}
