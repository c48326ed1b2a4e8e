package pickle_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel/pickle"
)

// The parts of pickles of protocol 2.
const (
	proto  = "\x80\x02"
	magic  = proto + "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
	before = magic + proto + "M\xe9\x03." + proto + "}."
	system = proto + "cposix\nsystem\nX\x04\x00\x00\x00echo\x85R."
	hooks  = "ccollections\nOrderedDict\n)R"
)

func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func number(n uint32) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, n)) }

func long(n uint64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, n))
}

// view is a tensor of FloatStorage numbers; shape and stride are tuples.
func view(numbers, shape, stride string) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + numbers + "tQK\x00" + shape + stride + "\x89" + hooks + "tR"
}

// state is a pickle of a dictionary with one entry.
func state(value string) string { return proto + "}" + text("w") + value + "s." }

func zipped(tb testing.TB, method uint16, files ...string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		require.NoError(tb, err)
		_, err = f.Write([]byte(files[i+1]))
		require.NoError(tb, err)
	}
	require.NoError(tb, w.Close())
	return out.Bytes()
}

func inZip(data string, storage string) func(testing.TB) []byte {
	return func(tb testing.TB) []byte {
		tb.Helper()
		return zipped(tb, zip.Store, "a/data.pkl", data, "a/data/0", storage)
	}
}

func raw(file string) func(testing.TB) []byte { return func(testing.TB) []byte { return []byte(file) } }

// scattered is a pickle of count tensors, each with the first and one of the last of 2^20 numbers.
func scattered(count int) string {
	var pickle strings.Builder
	pickle.WriteString(proto + "}")
	for i := range count {
		pickle.WriteString(text(strings.Repeat("w", i+1)) + view(number(1<<20), "K\x02\x85", number(uint32(1<<20-1-i))+"\x85") + "s")
	}
	return pickle.String() + "."
}

const four = "\x00\x00\x00\x00"

var two = state(view("K\x02", "K\x02\x85", "K\x01\x85"))

var hostile = map[string]struct {
	file func(testing.TB) []byte
	want string
}{
	"a call of os.system in a ZIP": {
		inZip(system, four), "This pickle holds more than tensors (posix.system), so it is not converted. Ask its author for safetensors.",
	},
	"a call of os.system in an old file":       {raw(before + system), "more than tensors (posix.system)"},
	"a call of os.system instead of the magic": {raw(system), "more than tensors (posix.system)"},
	"a class by a name of its own":             {inZip(proto+text("builtins")+text("eval")+"\x93.", four), "more than tensors (builtins.eval)"},
	"a class of another library":               {inZip(proto+"cpytorch_lightning\nTrainer\n.", four), "more than tensors (pytorch_lightning.Trainer)"},
	"a name with control characters":           {inZip(proto+"ca\x1b[2J\nb\n.", four), "more than tensors (a?[2J.b)"},
	"an instruction that makes an object":      {inZip(proto+hooks+")\x81.", four), "more than tensors (instruction 0x81)"},
	"an object with a state":                   {inZip(proto+"K\x01}b.", four), "more than tensors (an object with a state)"},
	"a storage class that is called":           {inZip(proto+"ctorch\nFloatStorage\n)R.", four), "a call of torch.FloatStorage"},
	"a dictionary made from arguments":         {inZip(proto+"ccollections\nOrderedDict\n]\x85R.", four), "a call of collections.OrderedDict"},
	"a number beside the tensors":              {inZip(state("K\x07"), four), "more than tensors (w)"},
	"a list of tensors":                        {inZip(proto+"].", four), "no dictionary of tensors"},
	"no tensor at all":                         {inZip(proto+"}.", four), "holds no tensors"},
	"another byte order": {func(tb testing.TB) []byte {
		tb.Helper()
		return zipped(tb, zip.Store, "a/data.pkl", two, "a/data/0", four+four, "a/byteorder", "big")
	}, "big-endian"},
	"a storage of 2^31 numbers in a ZIP":          {inZip(state(view(long(1<<31), "K\x01\x85", "K\x01\x85")), four), "claims 2147483648 numbers and has 4 bytes"},
	"a storage of 2^62 numbers in a ZIP":          {inZip(state(view(long(1<<62), "K\x01\x85", "K\x01\x85")), four), "claims 4611686018427387904 numbers"},
	"a storage of less than no numbers":           {inZip(state(view(long(1<<63), "K\x01\x85", "K\x01\x85")), four), "names a storage in an unknown way"},
	"a storage of 2^31 numbers in an old file":    {raw(before + state(view(long(1<<31), "K\x01\x85", "K\x01\x85")) + proto + "]" + text("0") + "a." + string(binary.LittleEndian.AppendUint64(nil, 1<<31)) + four), "claims 2147483648 numbers and the file has 4 bytes left"},
	"a storage with another count in an old file": {raw(before + two + proto + "]" + text("0") + "a." + string(binary.LittleEndian.AppendUint64(nil, 1)) + four + four), "claims 1 numbers"},
	"an old file without its storages":            {raw(before + two + proto + "]."), "lacks the storage 0"},
	"an old file with a storage twice":            {raw(before + two + proto + "](" + text("0") + text("0") + "e." + "\x02\x00\x00\x00\x00\x00\x00\x00" + four + four), "lists a storage that no tensor has"},
	"a shape larger than its storage":             {inZip(state(view("K\x01", number(1<<30)+number(1<<30)+"\x86", number(1<<30)+"K\x01\x86")), four), "does not fit into its storage"},
	"a shape of 2^126 numbers":                    {inZip(state(view("K\x01", long(1<<62)+long(1<<62)+"\x86", long(1<<62)+long(1<<62)+"\x86")), four), "does not fit into its storage"},
	"a shape repeated by a stride of zero":        {inZip(state(view("K\x01", number(1<<30)+number(1<<30)+"\x86", "K\x00K\x00\x86")), four), "more than 2 times as large as the file"},
	"a storage that many tensors scatter":         {inZip(scattered(10), strings.Repeat(four, 1<<20)), "read the same numbers too often"},
	"a negative shape":                            {inZip(state(view("K\x01", number(0xffffffff)+"\x85", "K\x01\x85")), four), "a tensor without a shape"},
	"a text of 4 GB":                              {inZip(proto+"X\xff\xff\xff\xff", four), "a text of"},
	"a value that was never stored":               {inZip(proto+"h\x05.", four), "recalls a value"},
	"a mark that is not there":                    {inZip(proto+"t.", four), "a mark that is not there"},
	"an empty stack":                              {inZip(proto+".", four), "a value that is not there"},
	"a list that holds itself":                    {inZip(proto+"]q\x00h\x00a.", four), "no dictionary of tensors"},
	"a pickle of a later protocol":                {inZip("\x80\x09.", four), "protocol 9"},
	"a storage that is compressed": {
		func(tb testing.TB) []byte {
			tb.Helper()
			return zipped(tb, zip.Deflate, "a/data.pkl", two, "a/data/0", strings.Repeat(four, 1<<20))
		},
		"is compressed or not whole",
	},
	"two files with the same name": {
		func(tb testing.TB) []byte {
			tb.Helper()
			return zipped(tb, zip.Store, "a/data.pkl", two, "a/data.pkl", two)
		}, "the same name",
	},
	"a ZIP without a pickle": {func(tb testing.TB) []byte { tb.Helper(); return zipped(tb, zip.Store, "a/b", "") }, "lacks data.pkl"},
	"an empty file":          {raw(""), "it has 0 bytes"},
	"another kind of file":   {raw("GIF89a and so on"), "no checkpoint of PyTorch"},
	"a short file":           {raw("P"), "it has 1 bytes"},
	"a plain pickle":         {raw(proto + "K\x01."), "no checkpoint of PyTorch"},
}

func TestAHostileFileIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := c.file(t)
			_, err := pickle.Convert(t.Context(), bytes.NewReader(file), int64(len(file)), &bytes.Buffer{})
			require.ErrorIs(t, err, pickle.ErrRefused)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAFileMadeByThisTestIsConvertedIfItIsWhole(t *testing.T) {
	t.Parallel()
	_, result := convert(t, zipped(t, zip.Store, "a/data.pkl", two, "a/data/0", four+four))
	require.Len(t, result.Tensors, 1)
}

// Not parallel: it measures what it allocates.
func TestAFileThatRepeatsInstructionsNeedsLittleMemory(t *testing.T) { //nolint:paralleltest // See above.
	for name, repeated := range map[string]string{
		"dictionaries": "}", "lists": "]", "marks": "(", "copies": "2", "large numbers": "\x8a\xff" + strings.Repeat("x", 255),
		"names": text(strings.Repeat("x", 60_000)), "tuples": ")\x85", "memos": "N\x94",
	} {
		file := zipped(t, zip.Store, "a/data.pkl", proto+"N"+strings.Repeat(repeated, (3<<20)/len(repeated)))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := pickle.Convert(t.Context(), bytes.NewReader(file), int64(len(file)), &bytes.Buffer{})
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, pickle.ErrRefused, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(512<<20), name)
	}
}
