// Package safetensors reads the header of a safetensors file: the names, types and shapes of its tensors.
//
// A file is 8 bytes with the length of the header, the header as JSON, and the bytes of the tensors. Nothing in it can be executed. The
// package never reads the tensors themselves, so the size of a file does not matter to it.
package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

const (
	lengthBytes = 8
	// maxHeader is the largest header that the libraries read.
	maxHeader = 100_000_000
	// metadata is the name in the header that is no tensor.
	metadata = "__metadata__"
	maxDims  = 32
)

// ErrDamaged is wrapped by the error about a file that is no safetensors file, or not all of one.
var ErrDamaged = errors.New("the safetensors file is damaged")

// sizes are the bytes of a number, by the name of its type in a header. Types of less than a byte are left out.
var sizes = map[string]int64{
	"F64": 8, "I64": 8, "U64": 8, "C64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2,
	"I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "F8_E4M3FNUZ": 1, "F8_E5M2FNUZ": 1,
}

// Tensor is an entry of a header.
type Tensor struct {
	Name string
	// Type is a name as the format writes it, such as F32 or BF16.
	Type  string
	Shape []int64
}

// Numbers is how many numbers the tensor has. It is negative if they are too many for 63 bits.
func (t Tensor) Numbers() int64 {
	count := uint64(1)
	for _, n := range t.Shape {
		high, low := bits.Mul64(count, uint64(max(n, 0)))
		if high != 0 || low>>63 != 0 {
			return -1
		}
		count = low
	}
	return int64(count)
}

// Bytes is the size of the tensor. It is negative if the type is unknown or the size needs more than 63 bits.
func (t Tensor) Bytes() int64 {
	size, known := sizes[t.Type]
	count := t.Numbers()
	if !known || count < 0 || count > (1<<62)/size {
		return -1
	}
	return count * size
}

type entry struct {
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// ReadHeader returns the tensors of a file of size bytes, in the order of their bytes. It checks that they fill the file.
func ReadHeader(r io.ReaderAt, size int64) ([]Tensor, error) {
	var length [lengthBytes]byte
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return nil, damaged(err)
	}
	count := binary.LittleEndian.Uint64(length[:])
	if count > maxHeader || int64(count) > size-lengthBytes {
		return nil, damaged(fmt.Errorf("its header of %d bytes does not fit", count))
	}
	text := make([]byte, count)
	if _, err := r.ReadAt(text, lengthBytes); err != nil {
		return nil, damaged(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, damaged(err)
	}
	delete(raw, metadata)
	entries := make(map[string]entry, len(raw))
	for name, doc := range raw {
		var e entry
		if err := json.Unmarshal(doc, &e); err != nil {
			return nil, damaged(err)
		}
		entries[name] = e
	}
	return inOrder(entries, size-lengthBytes-int64(count))
}

// inOrder returns the entries by their place in the file and checks that they cover its bytes without gaps.
func inOrder(entries map[string]entry, size int64) ([]Tensor, error) {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := entries[a].Offsets, entries[b].Offsets
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	tensors, end := make([]Tensor, 0, len(names)), int64(0)
	for _, name := range names {
		e := entries[name]
		t := Tensor{Name: name, Type: e.Type, Shape: e.Shape}
		known := sizes[e.Type] > 0
		switch {
		case len(e.Shape) > maxDims || slices.ContainsFunc(e.Shape, func(n int64) bool { return n < 0 }):
			return nil, damaged(fmt.Errorf("%q has no possible shape", name))
		case e.Offsets[0] != end || e.Offsets[1] < end || known && e.Offsets[1]-end != t.Bytes():
			return nil, damaged(fmt.Errorf("%q has not the bytes that its shape needs", name))
		}
		end = e.Offsets[1]
		tensors = append(tensors, t)
	}
	if end != size {
		return nil, damaged(fmt.Errorf("its tensors need %d bytes and it has %d", end, size))
	}
	return tensors, nil
}

func damaged(err error) error { return fmt.Errorf("%w: %w", ErrDamaged, err) }
