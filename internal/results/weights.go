package results

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// maxHeader is the longest header that the safetensors library itself accepts.
	maxHeader = 100_000_000
	// sniffLen is how much of a file tells its kind.
	sniffLen = 512
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

// checkSafetensors checks that a file of size bytes is a safetensors file: eight bytes that say how long the header is, a
// header that is JSON, and tensors that lie inside the file and fill it.
func checkSafetensors(f io.ReaderAt, size int64) error {
	var length [8]byte
	if size < int64(len(length)) {
		return errors.New("the file is too short for safetensors")
	}
	if _, err := f.ReadAt(length[:], 0); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n < 2 || n > maxHeader || int64(n) > size-int64(len(length)) {
		return errors.New("the file is not safetensors: its header cannot be that long")
	}
	header := make([]byte, n)
	if _, err := f.ReadAt(header, int64(len(length))); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return fmt.Errorf("the file is not safetensors: its header is not JSON: %w", err)
	}
	return checkTensors(entries, size-int64(len(length))-int64(len(header)))
}

// checkTensors checks that the tensors have the bytes that their types and shapes need, and together all of the file's.
func checkTensors(entries map[string]json.RawMessage, data int64) error {
	var total int64
	count := 0
	for name, raw := range entries {
		if name == "__metadata__" {
			continue
		}
		var t tensor
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("tensor %q: %w", shorten(name, 100), err)
		}
		if len(t.Offsets) != 2 || t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || t.Offsets[1] > data {
			return fmt.Errorf("tensor %q lies outside of the file", shorten(name, 100))
		}
		if bits := t.bits(data); bits < 0 || (bits+7)/8 != t.Offsets[1]-t.Offsets[0] {
			return fmt.Errorf("tensor %q has not the bytes that its shape needs", shorten(name, 100))
		}
		total += t.Offsets[1] - t.Offsets[0]
		count++
	}
	if count == 0 {
		return errors.New("the file holds no tensor")
	}
	if total != data {
		return errors.New("the tensors do not fill the file")
	}
	return nil
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

// looksLikePickle recognises what Python's pickle (protocol 2 and newer: 0x80 and its number) and torch.save (a zip archive
// with a pickle in it) write, whatever the name of the file says. A trainer has no reason to write any other archive.
func looksLikePickle(head []byte) bool {
	return len(head) >= 2 && (head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 || string(head[:2]) == "PK")
}
