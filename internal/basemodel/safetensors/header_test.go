package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel/safetensors"
)

// file is a safetensors file with the given header and count bytes of tensors.
func file(header string, count int) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+strings.Repeat("x", count)...)
}

func TestTheTensorsOfAHeaderAreInTheOrderOfTheirBytes(t *testing.T) {
	t.Parallel()
	doc := file(`{"__metadata__": {"format":"pt"}, "a": {"dtype":"BF16","shape":[5],"data_offsets":[32,42]},
		"b": {"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}, "scalar": {"dtype":"I64","shape":[],"data_offsets":[0,8]},
		"empty": {"dtype":"F32","shape":[0,7],"data_offsets":[8,8]}}`, 42)
	tensors, err := safetensors.ReadHeader(bytes.NewReader(doc), int64(len(doc)))
	require.NoError(t, err)
	require.Equal(t, []safetensors.Tensor{
		{Name: "scalar", Type: "I64", Shape: []int64{}},
		{Name: "empty", Type: "F32", Shape: []int64{0, 7}},
		{Name: "b", Type: "F32", Shape: []int64{2, 3}},
		{Name: "a", Type: "BF16", Shape: []int64{5}},
	}, tensors)
	require.Equal(t, int64(6), tensors[2].Numbers())
}

var damaged = map[string][]byte{
	"nothing":              nil,
	"a length alone":       {1, 0, 0, 0, 0, 0, 0, 0},
	"a header of 2^63":     {0, 0, 0, 0, 0, 0, 0, 0x80, '{', '}'},
	"no JSON":              file("{", 0),
	"a list":               file("[]", 0),
	"an entry of a number": file(`{"a": 3}`, 0),
	"a tensor cut":         file(`{"a": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 7),
	"bytes too many":       file(`{"a": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 9),
	"a gap":                file(`{"a": {"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
	"an overlap":           file(`{"a": {"dtype":"U8","shape":[2],"data_offsets":[0,2]}, "b": {"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3),
	"a wrong shape":        file(`{"a": {"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8),
	"a negative shape":     file(`{"a": {"dtype":"F32","shape":[-2,-1],"data_offsets":[0,8]}}`, 8),
	"offsets reversed":     file(`{"a": {"dtype":"X","shape":[1],"data_offsets":[0,-8]}}`, 8),
}

func TestADamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	for name, doc := range damaged {
		_, err := safetensors.ReadHeader(bytes.NewReader(doc), int64(len(doc)))
		require.ErrorIs(t, err, safetensors.ErrDamaged, name)
	}
}

func FuzzReadHeader(f *testing.F) {
	for _, doc := range damaged {
		f.Add(doc)
	}
	f.Add(file(`{"a": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}, "__metadata__": {"format":"pt"}}`, 8))
	f.Fuzz(func(t *testing.T, doc []byte) {
		tensors, err := safetensors.ReadHeader(bytes.NewReader(doc), int64(len(doc)))
		if err != nil {
			require.ErrorIs(t, err, safetensors.ErrDamaged)
			return
		}
		sum := int64(0)
		for _, t := range tensors {
			sum += max(0, t.Bytes())
		}
		require.LessOrEqual(t, sum, int64(len(doc)))
	})
}
