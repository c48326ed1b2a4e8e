package pickle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrRefused is wrapped by the error about a checkpoint that is not converted because of what it holds.
var ErrRefused = errors.New("it is not converted")

// refused is a sentence about a checkpoint that cannot be converted.
type refused string

func (r refused) Error() string { return string(r) }
func (r refused) Unwrap() error { return ErrRefused }

// moreThanTensors is the error about something in the pickle that is no tensor.
func moreThanTensors(what string) error {
	return refused(fmt.Sprintf("This pickle holds more than tensors (%s), so it is not converted. Ask its author for safetensors.", shown(what)))
}

// damaged is the error about a file that PyTorch cannot have written.
func damaged(format string, args ...any) error {
	return refused(fmt.Sprintf("The checkpoint is damaged: %s. Load it again, or ask its author for safetensors.", fmt.Sprintf(format, args...)))
}

// shown returns text from a file for an error, short and without control characters.
func shown(text string) string {
	const limit = 80
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	text = strings.ToValidUTF8(text, "?")
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

// The values of the machine are nil, bool, int64, float64, string and the following types.
type (
	tuple []any
	list  struct{ items []any }
	// dict has its pairs in order of insertion. Equal keys are not merged.
	dict struct{ keys, values []any }
	// long is an integer of more than 64 bits, little-endian.
	long string
	// global is a class or a function of Python by its name.
	global string
)

// storage is a run of numbers in the file, which tensors are views of.
type storage struct {
	key     string
	kind    kind
	numbers int64
	// offset is where its bytes begin in the file.
	offset int64
	placed bool
}

// tensor is a view of a storage. Offset and stride count numbers.
type tensor struct {
	storage       *storage
	offset        int64
	shape, stride []int64
}

// kind is the type of the numbers of a storage.
type kind struct {
	name string // in safetensors
	size int64  // bytes of a number
}

const storages = "torch."

var kinds = map[global]kind{
	storages + "DoubleStorage":   {"F64", 8},
	storages + "FloatStorage":    {"F32", 4},
	storages + "HalfStorage":     {"F16", 2},
	storages + "BFloat16Storage": {"BF16", 2},
	storages + "LongStorage":     {"I64", 8},
	storages + "IntStorage":      {"I32", 4},
	storages + "ShortStorage":    {"I16", 2},
	storages + "CharStorage":     {"I8", 1},
	storages + "ByteStorage":     {"U8", 1},
	storages + "BoolStorage":     {"BOOL", 1},
}

const (
	orderedDict      global = "collections.OrderedDict"
	rebuildTensor    global = "torch._utils._rebuild_tensor_v2"
	rebuildParameter global = "torch._utils._rebuild_parameter"
)

// allowed reports whether a pickle of tensors may name g.
func allowed(g global) bool {
	_, isStorage := kinds[g]
	return isStorage || g == orderedDict || g == rebuildTensor || g == rebuildParameter
}
