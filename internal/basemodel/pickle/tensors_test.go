package pickle

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel/safetensors"
)

// letters is a storage of the numbers a, b, c and so on, of one byte each.
func letters(numbers int64) *storage {
	return &storage{key: "0", kind: kinds["torch.CharStorage"], numbers: numbers, placed: true}
}

// ints is a tuple of integers, as a pickle has it.
func ints(values ...int64) tuple {
	t := tuple{}
	for _, v := range values {
		t = append(t, v)
	}
	return t
}

func TestATensorIsCopiedInTheOrderOfItsShape(t *testing.T) {
	t.Parallel()
	const all = "abcdefghijklmnopqrstuvwxyz"
	for name, tc := range map[string]struct {
		offset        int64
		shape, stride []int64
		want          string
		scattered     int64 // how many bytes are held in memory
	}{
		"one number":             {2, nil, nil, "c", 0},
		"a vector":               {1, []int64{3}, []int64{1}, "bcd", 0},
		"a matrix":               {0, []int64{2, 3}, []int64{3, 1}, "abcdef", 0},
		"a part of its rows":     {0, []int64{2, 2}, []int64{3, 1}, "abde", 5},
		"a column":               {1, []int64{3, 1}, []int64{4, 1}, "bfj", 9},
		"a transposed matrix":    {0, []int64{3, 2}, []int64{1, 3}, "adbecf", 6},
		"every second number":    {0, []int64{4}, []int64{2}, "aceg", 7},
		"one number many times":  {3, []int64{4}, []int64{0}, "dddd", 1},
		"one row many times":     {0, []int64{3, 2}, []int64{0, 1}, "ababab", 2},
		"rows that overlap":      {0, []int64{3, 3}, []int64{1, 1}, "abcbcdcde", 5},
		"axes of length one":     {0, []int64{1, 3, 1}, []int64{99, 1, 77}, "abc", 0},
		"three axes in disorder": {0, []int64{2, 2, 2}, []int64{1, 4, 2}, "acegbdfh", 8},
		"an inner run":           {0, []int64{2, 2, 2}, []int64{2, 8, 1}, "abijcdkl", 12},
		"nothing":                {26, []int64{0}, []int64{1}, "", 0},
		"no rows of three":       {0, []int64{0, 3}, []int64{3, 1}, "", 0},
		"three rows of nothing":  {0, []int64{3, 0}, []int64{7, 7}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tensor, err := rebuilt(tuple{letters(26), tc.offset, ints(tc.shape...), ints(tc.stride...), false, &dict{}})
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, tensor.copyTo(t.Context(), &out, strings.NewReader(all)))
			require.Equal(t, tc.want, out.String())
			require.Equal(t, tc.scattered, tensor.scattered())
		})
	}
}

func TestATensorMustLieInItsStorage(t *testing.T) {
	t.Parallel()
	parts := func(offset int64, shape, stride tuple) tuple {
		return tuple{letters(10), offset, shape, stride, false, &dict{}}
	}
	for name, tc := range map[string]struct {
		args tuple
		want string
	}{
		"all of it":              {parts(0, ints(10), ints(1)), ""},
		"its last number":        {parts(9, ints(), ints()), ""},
		"nothing behind it":      {parts(10, ints(0), ints(1)), ""},
		"metadata that is none":  {append(parts(0, ints(10), ints(1)), nil), ""},
		"one number more":        {parts(0, ints(11), ints(1)), "a tensor of shape [11] does not fit into its storage of 10 numbers"},
		"one number behind it":   {parts(10, ints(), ints()), "does not fit into its storage"},
		"a stride too far":       {parts(0, ints(2, 2), ints(9, 1)), "does not fit into its storage"},
		"a huge offset":          {parts(math.MaxInt64, ints(1), ints(1)), "does not fit into its storage"},
		"a huge stride":          {parts(0, ints(2), ints(math.MaxInt64)), "does not fit into its storage"},
		"huge strides together":  {parts(1<<61, ints(2, 2, 2), ints(1<<61, 1<<61, 1<<61)), "does not fit into its storage"},
		"a negative offset":      {parts(-1, ints(1), ints(1)), "a tensor without a shape"},
		"a negative shape":       {parts(0, ints(-1), ints(1)), "a tensor without a shape"},
		"a negative stride":      {parts(0, ints(2), ints(-1)), "a tensor without a shape"},
		"a stride too few":       {parts(0, ints(2, 2), ints(1)), "a tensor without a shape"},
		"33 axes":                {parts(0, ints(make([]int64, 33)...), ints(make([]int64, 33)...)), "a tensor without a shape"},
		"a shape of texts":       {parts(0, tuple{"2"}, ints(1)), "a tensor without a shape"},
		"five parts":             {parts(0, ints(1), ints(1))[:5], "a tensor of 5 parts"},
		"eight parts":            {append(parts(0, ints(1), ints(1)), nil, nil), "a tensor of 8 parts"},
		"metadata":               {append(parts(0, ints(1), ints(1)), &dict{}), "more than tensors (a tensor with metadata)"},
		"a list for a shape":     {tuple{letters(10), int64(0), &list{}, ints(), false, nil}, "a tensor without a shape"},
		"a name for the storage": {tuple{"0", int64(0), ints(), ints(), false, nil}, "a tensor without a storage"},
		"a text for the offset":  {tuple{letters(10), "0", ints(), ints(), false, nil}, "a tensor without a storage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rebuilt(tc.args)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrRefused)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestNamesOfOneTensorAreWrittenOnce(t *testing.T) {
	t.Parallel()
	first, second := letters(10), letters(10)
	view := func(from *storage, offset int64, shape ...int64) *tensor {
		stride := make([]int64, len(shape))
		for i := range stride {
			stride[i] = 1
		}
		return &tensor{storage: from, offset: offset, shape: shape, stride: stride}
	}
	w, err := collect(&dict{
		keys:   []any{"a", "same", "part", "shape", "other", "again", "part again"},
		values: []any{view(first, 0, 4), view(first, 0, 4), view(first, 1, 4), view(first, 0, 3), view(second, 0, 4), view(first, 0, 4), view(first, 1, 4)},
	})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"same": "a", "again": "a", "part again": "part"}, w.shared)
	require.Len(t, w.tensors, 4)
	for _, name := range []string{"a", "part", "shape", "other"} {
		require.Contains(t, w.tensors, name)
	}
}

func TestOnlyADictionaryOfTensorsByNameIsCollected(t *testing.T) {
	t.Parallel()
	one := &tensor{storage: letters(1)}
	for name, tc := range map[string]struct {
		value any
		want  string
	}{
		"nothing":                   {nil, "more than tensors (a value that is no dictionary of tensors)"},
		"a tensor":                  {one, "more than tensors (a value that is no dictionary of tensors)"},
		"an empty dictionary":       {&dict{}, "The checkpoint holds no tensors. Ask its author for safetensors."},
		"a number for a name":       {&dict{[]any{int64(1)}, []any{one}}, `a tensor has the name "1"`},
		"an empty name":             {&dict{[]any{""}, []any{one}}, `a tensor has the name ""`},
		"the name of the metadata":  {&dict{[]any{"__metadata__"}, []any{one}}, `a tensor has the name "__metadata__"`},
		"a name of other bytes":     {&dict{[]any{"a\xff"}, []any{one}}, `a tensor has the name "a?"`},
		"a name twice":              {&dict{[]any{"a", "a"}, []any{one, &tensor{storage: letters(1)}}}, "two tensors with the name a"},
		"a shared name twice":       {&dict{[]any{"a", "b", "b"}, []any{one, one, one}}, "two tensors with the name b"},
		"the optimizer's state":     {&dict{[]any{"a", "optimizer"}, []any{one, &dict{}}}, "more than tensors (optimizer)"},
		"tensors a level lower":     {&dict{[]any{"state_dict"}, []any{&dict{[]any{"a"}, []any{one}}}}, "more than tensors (state_dict)"},
		"a name with control bytes": {&dict{[]any{"a\nb"}, []any{int64(1)}}, "more than tensors (a?b)"},
	} {
		_, err := collect(tc.value)
		require.ErrorIs(t, err, ErrRefused, name)
		require.ErrorContains(t, err, tc.want, name)
	}
}

// broken is a disk or a network file system that fails.
type broken struct{ err error }

func (b broken) ReadAt([]byte, int64) (int, error) { return 0, b.err }
func (b broken) Write([]byte) (int, error)         { return 0, b.err }

func TestAFailureOfTheDiskIsNoFaultOfTheCheckpoint(t *testing.T) {
	t.Parallel()
	fault := errors.New("input/output error")
	disk := broken{fault}
	tensor := &tensor{storage: letters(26), shape: []int64{4}, stride: []int64{2}}
	_, opened := Convert(t.Context(), disk, 100, &bytes.Buffer{})
	for name, err := range map[string]error{
		"the first bytes": opened,
		"the numbers":     tensor.copyTo(t.Context(), &bytes.Buffer{}, disk),
		"what is written": tensor.copyTo(t.Context(), disk, strings.NewReader("abcdefghijklmnopqrstuvwxyz")),
	} {
		require.ErrorIs(t, err, fault, name)
		require.NotErrorIs(t, err, ErrRefused, name)
	}
}

func TestEachTypeOfNumbersHasItsNameAndSize(t *testing.T) {
	t.Parallel()
	for class, kind := range kinds {
		one := &tensor{storage: &storage{kind: kind, numbers: 6}, shape: []int64{2, 3}, stride: []int64{3, 1}}
		described := one.described("w")
		require.Equal(t, 6*kind.size, described.Bytes(), "%s has the size that safetensors gives to %s", class, kind.name)
		var header bytes.Buffer
		require.NoError(t, safetensors.WriteHeader(&header, []safetensors.Tensor{described}))
		read, err := safetensors.ReadHeader(bytes.NewReader(header.Bytes()), int64(header.Len())+described.Bytes())
		require.NoError(t, err, class)
		require.Equal(t, []safetensors.Tensor{described}, read)
		require.True(t, one.storage.fits(6*kind.size))
		require.False(t, one.storage.fits(6*kind.size+1))
		require.False(t, one.storage.fits(6*kind.size-1))
	}
}
