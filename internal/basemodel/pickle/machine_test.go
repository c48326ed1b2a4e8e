package pickle

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// run carries out one pickle without storages.
func run(text string) (any, error) {
	return load(newSource(strings.NewReader(text), 0, int64(len(text))), nil)
}

func TestEachInstructionMakesTheValueThatPythonMakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pickle string
		want   any
	}{
		"None":                     {"N.", nil},
		"True":                     {"\x88.", true},
		"False":                    {"\x89.", false},
		"a byte":                   {"K\xff.", int64(255)},
		"two bytes":                {"M\xff\xff.", int64(65535)},
		"the smallest of 4 bytes":  {"J\x00\x00\x00\x80.", int64(math.MinInt32)},
		"the largest of 4 bytes":   {"J\xff\xff\xff\x7f.", int64(math.MaxInt32)},
		"a long of no byte":        {"\x8a\x00.", int64(0)},
		"a long of one byte":       {"\x8a\x01\xff.", int64(-1)},
		"a long with a zero byte":  {"\x8a\x02\xff\x00.", int64(255)},
		"a long of 7 bytes":        {"\x8a\x07\x00\x00\x00\x00\x00\x00\x80.", int64(-1) << 55},
		"a long of 8 bytes":        {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", int64(math.MaxInt64)},
		"a long of 9 bytes":        {"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00.", long("\x00\x00\x00\x00\x00\x00\x00\x80\x00")},
		"a number with a fraction": {"G\x3f\xf8\x00\x00\x00\x00\x00\x00.", 1.5},
		"infinity":                 {"G\x7f\xf0\x00\x00\x00\x00\x00\x00.", math.Inf(1)},
		"a short text":             {"\x8c\x02\xc3\xa4.", "ä"},
		"a text":                   {"X\x01\x00\x00\x00a.", "a"},
		"an empty text":            {"X\x00\x00\x00\x00.", ""},
		"a text of Python 2":       {"T\x01\x00\x00\x00a.", "a"},
		"a short text of Python 2": {"U\x01a.", "a"},
		"an empty list":            {"].", &list{}},
		"a list of one":            {"]K\x01a.", &list{[]any{int64(1)}}},
		"a list of three":          {"]K\x01a(K\x02K\x03e.", &list{[]any{int64(1), int64(2), int64(3)}}},
		"a list of no more":        {"](e.", &list{}},
		"an empty tuple":           {").", tuple(nil)},
		"a tuple of one":           {"K\x01\x85.", tuple{int64(1)}},
		"a tuple of two":           {"K\x01K\x02\x86.", tuple{int64(1), int64(2)}},
		"a tuple of three":         {"K\x01K\x02K\x03\x87.", tuple{int64(1), int64(2), int64(3)}},
		"a tuple of four":          {"(K\x01K\x02K\x03K\x04t.", tuple{int64(1), int64(2), int64(3), int64(4)}},
		"tuples in a tuple":        {"((K\x01tK\x02t.", tuple{tuple{int64(1)}, int64(2)}},
		"an empty dictionary":      {"}.", &dict{}},
		"a dictionary":             {"}U\x01aK\x01s(U\x01bK\x02U\x01cK\x03u.", &dict{[]any{"a", "b", "c"}, []any{int64(1), int64(2), int64(3)}}},
		"a key twice":              {"}(U\x01aK\x01U\x01aK\x02u.", &dict{[]any{"a", "a"}, []any{int64(1), int64(2)}}},
		"an ordered dictionary":    {"ccollections\nOrderedDict\n)R.", &dict{}},
		"a class by its names":     {"\x8c\x0bcollections\x8c\x0bOrderedDict\x93)R.", &dict{}},
		"a dictionary with state":  {"}U\x01aK\x01s}b.", &dict{[]any{"a"}, []any{int64(1)}}},
		"a value of the memo":      {"K\x07q\x050h\x05.", int64(7)},
		"a far value of the memo":  {"K\x07r\x00\x00\x01\x000j\x00\x00\x01\x00.", int64(7)},
		"the memo of protocol 4":   {"K\x07\x94K\x08\x9400h\x01.", int64(8)},
		"one value twice":          {"K\x072\x86.", tuple{int64(7), int64(7)}},
		"a value that is dropped":  {"K\x07K\x080.", int64(7)},
		"values that are dropped":  {"K\x07(K\x08K\x091.", int64(7)},
		"a frame":                  {"\x80\x05\x95\x02\x00\x00\x00\x00\x00\x00\x00K\x07.", int64(7)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := run(tc.pickle)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestAPickleThatPythonCannotHaveWrittenIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ pickle, want string }{
		"nothing":                          {"", "its pickle has no end"},
		"no end":                           {"K\x01", "its pickle has no end"},
		"half a number":                    {"J\x01\x02", "its pickle has no end"},
		"half a text":                      {"U\x05abc", "its pickle has no end"},
		"half a long":                      {"\x8a\x04\x01", "its pickle has no end"},
		"half a fraction":                  {"G\x00", "its pickle has no end"},
		"half a class":                     {"ccollections\nOrd", "its pickle has no end"},
		"a class without a name":           {"ccollections", "its pickle has no end"},
		"an end too early":                 {"K\x010.", "a value that is not there"},
		"an end in a mark":                 {"K\x01(.", "a value that is not there"},
		"a drop below a mark":              {"K\x01(0.", "a value that is not there"},
		"a drop of a mark":                 {"1.", "a mark that is not there"},
		"a copy of nothing":                {"2.", "a value that is not there"},
		"a copy below a mark":              {"K\x01(2.", "a value that is not there"},
		"a tuple of two from one":          {"K\x01\x86.", "a value that is not there"},
		"a tuple below a mark":             {"K\x01(K\x02\x86.", "a value that is not there"},
		"a memo of nothing":                {"q\x00.", "a value that is not there"},
		"an item of nothing":               {"a.", "a value that is not there"},
		"an item without a list":           {"K\x01a.", "a value that is not there"},
		"items of a number":                {"K\x01(K\x02e.", "appends to what is no list"},
		"items of a tuple":                 {")K\x02a.", "appends to what is no list"},
		"items of a list without a mark":   {"]K\x01e.", "a mark that is not there"},
		"a pair of a list":                 {"]K\x01K\x02s.", "sets items of what is no dictionary"},
		"a pair of nothing":                {"K\x01K\x02s.", "a value that is not there"},
		"half a pair":                      {"}(K\x01u.", "sets items of what is no dictionary"},
		"pairs without a mark":             {"}K\x01K\x02u.", "a mark that is not there"},
		"a class named by numbers":         {"K\x01K\x02\x93.", "names a class by what is no text"},
		"a class named by one text":        {"U\x0bcollectionsK\x02\x93.", "names a class by what is no text"},
		"a class of nothing":               {"\x93.", "a value that is not there"},
		"a call of a number":               {"K\x01)R.", "calls what is no function"},
		"a call with a list":               {"ccollections\nOrderedDict\n]R.", "calls what is no function"},
		"a call of nothing":                {")R.", "a value that is not there"},
		"a state of nothing":               {"}b.", "a value that is not there"},
		"a storage where there is none":    {"U\x07storage\x85Q.", "names a storage in an unknown way"},
		"a storage named by a text":        {"U\x07storageQ.", "names a storage in an unknown way"},
		"a storage of nothing":             {"Q.", "a value that is not there"},
		"a parameter without a tensor":     {"ctorch._utils\n_rebuild_parameter\nK\x01\x85R.", "a parameter without a tensor"},
		"a tensor of no parts":             {"ctorch._utils\n_rebuild_tensor_v2\n)R.", "a tensor of 0 parts"},
		"a protocol that is not there yet": {"\x80\x06N.", "a pickle of protocol 6"},
		"a text of 65,537 bytes":           {"X\x01\x00\x01\x00" + strings.Repeat("x", 1<<16+1) + ".", "a text of 65537 bytes"},
		"a class of a long name":           {"c" + strings.Repeat("x", 1<<16) + "\nx\n.", "a name of more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := run(tc.pickle)
			require.ErrorIs(t, err, ErrRefused)
			require.ErrorContains(t, err, "The checkpoint is damaged: ")
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "Load it again, or ask its author for safetensors.")
		})
	}
}

func TestNoOtherInstructionIsCarriedOut(t *testing.T) {
	t.Parallel()
	refusals := 0
	for code := range 256 {
		_, isPlain := plain[byte(code)]
		_, isNumbered := numbered[byte(code)]
		if isPlain || isNumbered || code == opStop {
			continue
		}
		refusals++
		_, err := run("N" + string([]byte{byte(code)}) + strings.Repeat("N", 16) + ".")
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorContains(t, err, "This pickle holds more than tensors (instruction 0x")
	}
	require.Equal(t, 256-len(plain)-len(numbered)-1, refusals)
	for name, code := range map[string]byte{"EXT1": 0x82, "INST": 'i', "OBJ": 'o', "NEWOBJ": 0x81, "NEWOBJ_EX": 0x92, "PERSID": 'P', "STRING": 'S', "LONG": 'L'} {
		require.NotContains(t, plain, code, name)
		require.NotContains(t, numbered, code, name)
	}
}

func TestOnlyTheNamesOfTensorsAreAllowed(t *testing.T) {
	t.Parallel()
	for name, want := range map[global]bool{
		"torch.FloatStorage": true, "torch.BFloat16Storage": true, "torch.BoolStorage": true, orderedDict: true, rebuildTensor: true, rebuildParameter: true,
		"torch.load": false, "torch.ComplexFloatStorage": false, "torch.QInt8Storage": false, "torch.": false, "torch.Tensor": false, "": false, ".": false,
		"collections.defaultdict": false, "builtins.exec": false, "os.system": false, "torch._utils._rebuild_tensor": false, "torch.floatstorage": false,
		"torch..FloatStorage": false, "numpy.core.multiarray._reconstruct": false, "torch._utils._rebuild_sparse_tensor": false,
	} {
		require.Equal(t, want, allowed(name), string(name))
	}
}

func TestPicklesThatFollowOneAnotherAreReadOneByOne(t *testing.T) {
	t.Parallel()
	text := "K\x01.K\x02q\x00.h\x00"
	in := newSource(strings.NewReader("skipped"+text), int64(len("skipped")), int64(len(text)))
	for _, want := range []struct {
		value int64
		read  int64
	}{{1, 3}, {2, 8}} {
		got, err := load(in, nil)
		require.NoError(t, err)
		require.Equal(t, want.value, got)
		require.Equal(t, want.read, in.read)
	}
	_, err := load(in, nil)
	require.ErrorContains(t, err, "recalls a value that it has not stored", "the memo of one pickle is not that of the next")
	_, err = load(in, nil)
	require.ErrorContains(t, err, "has no end")
}

func TestInstructionsAreCountedOverAllPickles(t *testing.T) {
	t.Parallel()
	in := newSource(strings.NewReader("N.N."), 0, 4)
	in.steps = maxSteps - 3
	_, err := load(in, nil)
	require.NoError(t, err)
	_, err = load(in, nil)
	require.EqualError(t, err, "This pickle has more than 2,000,000 instructions, so it is not converted. Ask its author for safetensors.")
}

func TestAStorageIsHandedOutOnce(t *testing.T) {
	t.Parallel()
	placed := 0
	s := storageTable{map[string]*storage{}, func(*storage) error { placed++; return nil }}
	id := func(class global, key string, numbers int64, more ...any) tuple {
		return append(tuple{"storage", class, key, "cpu", numbers}, more...)
	}
	first, err := s.get(id("torch.FloatStorage", "0", 4))
	require.NoError(t, err)
	again, err := s.get(id("torch.FloatStorage", "0", 4, nil))
	require.NoError(t, err)
	require.Same(t, first, again)
	other, err := s.get(id("torch.FloatStorage", "1", 4))
	require.NoError(t, err)
	require.NotSame(t, first, other)
	require.Equal(t, 2, placed)
	for name, tc := range map[string]struct {
		id   tuple
		want string
	}{
		"another type":         {id("torch.IntStorage", "0", 4), "the storage 0 has two types"},
		"another count":        {id("torch.FloatStorage", "0", 5), "the storage 0 has two types"},
		"a view":               {id("torch.FloatStorage", "0", 4, tuple{}), "names a storage in an unknown way"},
		"seven parts":          {id("torch.FloatStorage", "0", 4, nil, nil), "names a storage in an unknown way"},
		"nothing":              {nil, "names a storage in an unknown way"},
		"four parts":           {tuple{"storage", global("torch.FloatStorage"), "0", "cpu"}, "names a storage in an unknown way"},
		"another word":         {tuple{"module", global("torch.FloatStorage"), "0", "cpu", int64(4)}, "names a storage in an unknown way"},
		"a class by its text":  {tuple{"storage", "torch.FloatStorage", "0", "cpu", int64(4)}, "names a storage in an unknown way"},
		"a key that is none":   {tuple{"storage", global("torch.FloatStorage"), int64(0), "cpu", int64(4)}, "names a storage in an unknown way"},
		"a count that is none": {tuple{"storage", global("torch.FloatStorage"), "0", "cpu", long("")}, "names a storage in an unknown way"},
		"no storage":           {id(orderedDict, "2", 4), "names a storage in an unknown way"},
		"less than no numbers": {id("torch.FloatStorage", "2", -1), "names a storage in an unknown way"},
	} {
		_, err := s.get(tc.id)
		require.ErrorIs(t, err, ErrRefused, name)
		require.ErrorContains(t, err, tc.want, name)
	}
	require.Equal(t, 2, placed)
}

func TestTextOfAFileIsShortAndPlainInAnError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "weight": "weight", "ä b": "ä b", "a\x1b[31m\n": "a?[31m?", "\xff\xfe": "?", strings.Repeat("x", 81): strings.Repeat("x", 80) + "…",
		strings.Repeat("x", 79) + "ä": strings.Repeat("x", 79) + "?…", "a\u202eb": "a?b",
	} {
		require.Equal(t, want, shown(text))
	}
}

func TestAnOldFileIsRefusedWhereItsPartsDisagree(t *testing.T) {
	t.Parallel()
	const begin = "\x80\x02\x8a\x0a" + string(magic) + ".\x80\x02M\xe9\x03."
	const tensors = "}U\x01wctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x01tQK\x00K\x01\x85K\x01\x85\x89NtRs."
	one := string(binary.LittleEndian.AppendUint64(nil, 1))
	for name, tc := range map[string]struct{ file, want string }{
		"whole":                  {begin + "}U\x0dlittle_endian\x88s." + tensors + "]U\x010a." + one + "abcd", ""},
		"without a machine":      {begin + "N." + tensors + "]U\x010a." + one + "abcd", ""},
		"bytes after the end":    {begin + "}." + tensors + "]U\x010a." + one + "abcd and more", ""},
		"a big-endian machine":   {begin + "}U\x0dlittle_endian\x89s." + tensors + "]U\x010a." + one + "abcd", "written on a big-endian machine"},
		"an unknown byte order":  {begin + "}U\x0dlittle_endianNs." + tensors + "]U\x010a." + one + "abcd", "written on a big-endian machine"},
		"no list of storages":    {begin + "}." + tensors + "N.", "it has no list of storages"},
		"a storage by a number":  {begin + "}." + tensors + "]K\x00a." + one + "abcd", "lists a storage that no tensor has"},
		"an unknown storage":     {begin + "}." + tensors + "]U\x011a." + one + "abcd", "lists a storage that no tensor has"},
		"no count of a storage":  {begin + "}." + tensors + "]U\x010a." + one[:7], "it ends before the storage 0"},
		"half a storage":         {begin + "}." + tensors + "]U\x010a." + one + "abc", "the storage 0 claims 1 numbers and the file has 3 bytes left"},
		"tensors in the machine": {begin + "(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x01tQ.", "names a storage in an unknown way"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			result, err := Convert(t.Context(), strings.NewReader(tc.file), int64(len(tc.file)), &out)
			if tc.want != "" {
				require.ErrorIs(t, err, ErrRefused)
				require.ErrorContains(t, err, tc.want)
				return
			}
			require.NoError(t, err)
			require.Len(t, result.Tensors, 1)
			require.True(t, bytes.HasSuffix(out.Bytes(), []byte("abcd")))
		})
	}
}
