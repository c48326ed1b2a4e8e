package results

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheBeginningOfAFileIsKeptHoweverItIsRead: io.Copy hands a file over in pieces of any size.
func TestTheBeginningOfAFileIsKeptHoweverItIsRead(t *testing.T) {
	t.Parallel()
	const lengthSize = 8 // of the length of a header
	header := func(claimed uint64, size int) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, claimed), bytes.Repeat([]byte("h"), size)...)
	}
	for name, tc := range map[string]struct {
		body        []byte
		weights     bool
		least, most int
	}{
		"a short file":                          {bytes.Repeat([]byte("x"), 100), false, 100, 100},
		"a long file":                           {bytes.Repeat([]byte("x"), 5000), false, sniffLen, sniffLen},
		"an empty file":                         {nil, false, 0, 0},
		"weights with a header that is longer":  {header(3000, 9000), true, lengthSize + 3000, lengthSize + 3000},
		"weights with a header that is shorter": {header(10, 9000), true, lengthSize + 10, sniffLen},
		"weights that end within their length":  {[]byte("1234567"), true, 7, 7},
		"weights that end within their header":  {header(3000, 100), true, lengthSize + 100, lengthSize + 100},
		"weights that claim more than any has":  {header(1<<63, 9000), true, lengthSize + 9000, lengthSize + 9000},
		"a header in a file of another kind":    {header(3000, 9000), false, sniffLen, sniffLen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, piece := range []int{1, 7, 8, 9, sniffLen - 1, sniffLen, 32 << 10} {
				p := &prefix{weights: tc.weights}
				for part := range slices.Chunk(tc.body, piece) {
					n, err := p.Write(part)
					require.NoError(t, err)
					require.Equal(t, len(part), n, "every byte counts as written, also where it is not kept")
				}
				got := len(p.bytes)
				require.True(t, got >= tc.least && got <= tc.most, "%d bytes are kept of pieces of %d", got, piece)
				require.True(t, bytes.Equal(tc.body[:got], p.bytes))
			}
		})
	}
}
