// Package safetensors checks that a file of weights is one, by how it begins. Nothing in such a file can run code.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// lengthSize is how many bytes at the beginning of a safetensors file tell the length of its header.
	lengthSize = 8
	// maxHeader is the longest header that is read: one of 100,000 tensors has about 10 MB.
	maxHeader  = 16 << 20
	maxTensors = 200_000
)

// tensor is one entry of a safetensors header.
type tensor struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// dtypeBits is the size of one element of each type that a safetensors file may hold.
func dtypeBits(dtype string) int64 {
	switch dtype {
	case "F64", "I64", "U64", "C64":
		return 64
	case "F32", "I32", "U32":
		return 32
	case "F16", "BF16", "I16", "U16":
		return 16
	case "I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0":
		return 8
	case "F4":
		return 4
	default:
		return 0
	}
}

// HeadSize is how many bytes of the beginning of a file Check needs, as far as beginning, the first of them, tells it.
func HeadSize(beginning []byte) int {
	if len(beginning) < lengthSize {
		return lengthSize
	}
	return lengthSize + int(min(binary.LittleEndian.Uint64(beginning), maxHeader))
}

// Check accepts a file of size bytes, which begins with head, if it is a safetensors file: eight bytes that say how
// long the header is, a header that is JSON, and tensors that lie inside the file and fill it.
func Check(head []byte, size int64) error {
	if size < lengthSize || len(head) < lengthSize {
		return errors.New("the file is too short for safetensors")
	}
	n := binary.LittleEndian.Uint64(head)
	if n < 2 || n > maxHeader || int64(n) > size-lengthSize || int(n) > len(head)-lengthSize {
		return errors.New("the file is not safetensors: the length of its header is impossible")
	}
	data := size - lengthSize - int64(n)
	total, err := checkTensors(head[lengthSize:lengthSize+int(n)], data)
	if err != nil {
		return err
	}
	if total != data {
		return errors.New("the tensors do not fill the file")
	}
	return nil
}

// checkTensors checks that the tensors of a header have the bytes that their types and shapes need, and lie within data bytes.
// It returns how many bytes all of them have. The header is read one tensor at a time: as a whole it could fill the memory.
func checkTensors(header []byte, data int64) (total int64, err error) {
	dec := json.NewDecoder(bytes.NewReader(header))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return 0, errors.New("the file is not safetensors: its header is not JSON")
	}
	var spans [][2]int64
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0, fmt.Errorf("the file is not safetensors: its header is not JSON: %w", err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return 0, fmt.Errorf("the file is not safetensors: its header is not JSON: %w", err)
		}
		if name == "__metadata__" {
			continue
		}
		span, err := tensorSpan(raw, data)
		if err != nil {
			return 0, fmt.Errorf("tensor %q %w", text.Shorten(fmt.Sprint(name), 100), err)
		}
		total += span[1] - span[0]
		if spans = append(spans, span); total > data || len(spans) > maxTensors {
			return 0, errors.New("the file is not safetensors: its tensors are larger than the file")
		}
	}
	if _, err := dec.Token(); err != nil {
		return 0, fmt.Errorf("the file is not safetensors: its header is not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return 0, errors.New("the file is not safetensors: its header is not JSON: something follows it")
	}
	if len(spans) == 0 {
		return 0, errors.New("the file holds no tensor")
	}
	return total, checkGaps(spans)
}

// checkGaps checks that tensors lie one behind the other. Their sizes alone do not tell it: two on the same bytes would hide others.
func checkGaps(spans [][2]int64) error {
	slices.SortFunc(spans, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var end int64
	for _, span := range spans {
		if span[0] != end {
			return errors.New("the tensors do not fill the file")
		}
		end = span[1]
	}
	return nil
}

// tensorSpan is where a tensor lies within data bytes. Its error reads on after the name of the tensor.
func tensorSpan(raw json.RawMessage, data int64) (span [2]int64, err error) {
	var t tensor
	if err := json.Unmarshal(raw, &t); err != nil {
		return span, fmt.Errorf("has no valid description: %w", err)
	}
	if len(t.Offsets) != 2 || t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || t.Offsets[1] > data {
		return span, errors.New("lies outside the file")
	}
	size := t.Offsets[1] - t.Offsets[0]
	if bits := t.bits(data); bits < 0 || (bits+7)/8 != size {
		return span, errors.New("does not have the size that its shape needs")
	}
	return [2]int64{t.Offsets[0], t.Offsets[1]}, nil
}

// bits is the size of a tensor, or -1 where that is more than data bytes can hold or cannot be known.
func (t tensor) bits(data int64) int64 {
	n := dtypeBits(t.DType)
	if n == 0 {
		return -1
	}
	limit := data * 8
	for _, d := range t.Shape {
		if d == 0 {
			return 0
		}
		if d < 0 || n > limit/d {
			return -1
		}
		n *= d
	}
	return n
}
