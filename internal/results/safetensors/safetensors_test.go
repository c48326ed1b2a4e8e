package safetensors_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/results/safetensors"
)

// weightsFile is a safetensors file with that header and so many bytes of data.
func weightsFile(header string, data int) []byte {
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	return append(file, make([]byte, data)...)
}

// tensorHeader describes tensors, each given as its dtype, its shape and its offsets.
func tensorHeader(tensors ...string) string {
	parts := make([]string, len(tensors))
	for i, tensor := range tensors {
		fields := strings.Split(tensor, " ")
		parts[i] = fmt.Sprintf(`"t%d":{"dtype":%q,"shape":%s,"data_offsets":%s}`, i, fields[0], fields[1], fields[2])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestWeightsFillTheirFile(t *testing.T) {
	t.Parallel()
	const none, size, outside, invalid = "holds no tensor", "does not have the size that its shape needs", "lies outside the file", "has no valid description"
	for name, tc := range map[string]struct {
		header string
		data   int
		want   string
	}{
		"one tensor":                        {tensorHeader("F32 [2,3] [0,24]"), 24, ""},
		"a number without a shape":          {tensorHeader("F64 [] [0,8]"), 8, ""},
		"an empty tensor beside another":    {tensorHeader("F32 [0,5] [0,0]", "U8 [4] [0,4]"), 4, ""},
		"tensors in another order":          {tensorHeader("I16 [2] [4,8]", "BF16 [2] [0,4]"), 8, ""},
		"half bytes":                        {tensorHeader("F4 [3] [0,2]"), 2, ""},
		"a header that ends with blanks":    {tensorHeader("BOOL [1] [0,1]") + "   ", 1, ""},
		"metadata":                          {`{"__metadata__":{"format":"pt"},"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}`, 1, ""},
		"metadata only":                     {`{"__metadata__":{"format":"pt"}}`, 0, none},
		"no header":                         {`[]`, 0, "header is not JSON"},
		"a header that is cut":              {tensorHeader("U8 [1] [0,1]")[:20], 1, "header is not JSON"},
		"words behind the header":           {tensorHeader("U8 [1] [0,1]") + "<script>", 1, "header is not JSON"},
		"a second header":                   {tensorHeader("U8 [1] [0,1]") + "{}", 1, "header is not JSON"},
		"an unknown type":                   {tensorHeader("F128 [1] [0,16]"), 16, size},
		"a size that does not fit":          {tensorHeader("F32 [2] [0,4]"), 4, size},
		"a shape below zero":                {tensorHeader("F32 [-1] [0,4]"), 4, size},
		"two sides below zero":              {tensorHeader("U8 [-2,-2] [0,4]"), 4, size},
		"a shape that overflows":            {tensorHeader("F64 [9223372036854775807,9223372036854775807] [0,8]"), 8, size},
		"a shape that overflows to nought":  {tensorHeader("U8 [4294967296,4294967296] [0,0]"), 0, size},
		"a shape beyond all numbers":        {tensorHeader("U8 [1e99] [0,1]"), 1, invalid},
		"an offset below zero":              {tensorHeader("U8 [1] [-1,0]"), 1, outside},
		"an end before its beginning":       {tensorHeader("U8 [1] [1,0]"), 1, outside},
		"an end behind the file":            {tensorHeader("U8 [2] [0,2]"), 1, outside},
		"one offset":                        {tensorHeader("U8 [1] [0]"), 1, outside},
		"three offsets":                     {tensorHeader("U8 [1] [0,1,1]"), 1, outside},
		"a tensor that is a word":           {`{"w":"x"}`, 0, invalid},
		"bytes that belong to no tensor":    {tensorHeader("U8 [1] [0,1]"), 9, "do not fill"},
		"bytes between two tensors":         {tensorHeader("U8 [1] [0,1]", "U8 [1] [2,3]"), 3, "do not fill"},
		"a gap that an overlap hides":       {tensorHeader("U8 [4] [0,4]", "U8 [4] [0,4]"), 8, "do not fill"},
		"bytes before the first tensor":     {tensorHeader("U8 [1] [1,2]"), 2, "do not fill"},
		"two tensors on the same bytes":     {tensorHeader("U8 [4] [0,4]", "U8 [4] [0,4]"), 4, "larger than the file"},
		"a name that breaks the terminal":   {`{"a\u001b[2J\n":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}}`, 1, size},
		"a name without an end":             {`{"` + strings.Repeat("x", 10_000) + `":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}}`, 1, size},
		"a header of objects in each other": {`{"w":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000) + "}", 0, "header is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := weightsFile(tc.header, tc.data)
			err := safetensors.Check(file, int64(len(file)))
			if tc.want == "" {
				require.NoError(t, err)
				require.NoError(t, safetensors.Check(file[:8+len(tc.header)], int64(len(file))), "the data is not needed")
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.Less(t, len(err.Error()), 400)
			require.NotContains(t, err.Error(), "\x1b")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestTheLengthOfAHeaderIsChecked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		head string
		size int64
	}{
		"nothing":                        {"", 0},
		"seven bytes":                    {"1234567", 7},
		"no header":                      {"\x00\x00\x00\x00\x00\x00\x00\x00", 8},
		"a header of one byte":           {"\x01\x00\x00\x00\x00\x00\x00\x00{", 9},
		"longer than the file":           {"\x40\x00\x00\x00\x00\x00\x00\x00{}", 10},
		"longer than what was read":      {"\x40\x00\x00\x00\x00\x00\x00\x00{}", 1000},
		"longer than anybody writes":     {"\x00\x00\x00\x40\x00\x00\x00\x00{}", 1 << 40},
		"a number that is negative":      {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10},
		"a size that is not of the file": {"\x02\x00\x00\x00\x00\x00\x00\x00{}", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, safetensors.Check([]byte(tc.head), tc.size))
		})
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(resultstest.Safetensors(8))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(_ *testing.T, body []byte) {
		_ = safetensors.Check(body, int64(len(body)))
	})
}
