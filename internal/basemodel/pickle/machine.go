package pickle

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

const (
	// maxSteps is the largest number of instructions: enough for 50,000 tensors.
	maxSteps = 2_000_000
	// maxText is the most bytes that are read as pickles, of all pickles of a file together.
	maxText = 64 << 20
	// maxString is the longest name.
	maxString = 64 << 10
)

// source reads the pickles of a file and counts what it has read.
type source struct {
	r     *bufio.Reader
	read  int64
	steps int
}

func newSource(r io.ReaderAt, offset, size int64) *source {
	return &source{r: bufio.NewReader(io.NewSectionReader(r, offset, min(size, maxText)))}
}

// take returns the next n bytes, at most maxString.
func (s *source) take(n int64) ([]byte, error) {
	if n < 0 || n > maxString {
		return nil, damaged("a text of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(s.r, b); err != nil {
		return nil, cut(err)
	}
	s.read += n
	return b, nil
}

func (s *source) one() (byte, error) {
	b, err := s.r.ReadByte()
	s.read++
	return b, cut(err)
}

func (s *source) line() (string, error) {
	var line []byte
	for len(line) < maxString {
		b, err := s.one()
		if err != nil {
			return "", err
		}
		if b == '\n' {
			return string(line), nil
		}
		line = append(line, b)
	}
	return "", damaged("a name of more than %d bytes", maxString)
}

// number returns an unsigned integer of n bytes, little-endian; n is 1, 2, 4 or 8.
func (s *source) number(n int64) (uint64, error) {
	b, err := s.take(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:]), nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("its pickle has no end")
	}
	return err
}

// machine carries out one pickle.
type machine struct {
	in    *source
	stack []any
	marks []int
	memo  map[uint64]any
	// persistent returns the value that a pickle names by a tuple instead of holding it.
	persistent func(id tuple) (any, error)
}

// load carries out the next pickle of in and returns its value.
func load(in *source, persistent func(tuple) (any, error)) (any, error) {
	m := &machine{in: in, memo: map[uint64]any{}, persistent: persistent}
	for {
		code, err := in.one()
		if err != nil {
			return nil, err
		}
		if in.steps++; in.steps > maxSteps {
			return nil, refused("This pickle has more than 2,000,000 instructions, so it is not converted. Ask its author for safetensors.")
		}
		if code == opStop {
			return m.pop()
		}
		if err := m.step(code); err != nil {
			return nil, err
		}
	}
}

func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	return nil
}

// floor is the height below which the current mark does not allow to pop.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() (any, error) {
	if len(m.stack) <= m.floor() {
		return nil, damaged("its pickle takes a value that is not there")
	}
	last := len(m.stack) - 1
	v := m.stack[last]
	m.stack[last] = nil
	m.stack = m.stack[:last]
	return v, nil
}

// popN returns the last n values, in their order.
func (m *machine) popN(n int) ([]any, error) {
	if len(m.stack)-m.floor() < n {
		return nil, damaged("its pickle takes a value that is not there")
	}
	values := append([]any(nil), m.stack[len(m.stack)-n:]...)
	clear(m.stack[len(m.stack)-n:])
	m.stack = m.stack[:len(m.stack)-n]
	return values, nil
}

// popMark returns the values above the last mark and removes the mark.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, damaged("its pickle takes a mark that is not there")
	}
	values, err := m.popN(len(m.stack) - m.floor())
	m.marks = m.marks[:len(m.marks)-1]
	return values, err
}

// remember stores the last value under number.
func (m *machine) remember(number uint64) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	m.memo[number] = v
	return m.push(v)
}

func (m *machine) recall(number uint64) error {
	v, there := m.memo[number]
	if !there {
		return damaged("its pickle recalls a value that it has not stored")
	}
	return m.push(v)
}

// integer pushes a signed integer of n little-endian bytes, at most 255.
func (m *machine) integer(n int64) error {
	b, err := m.in.take(n)
	if err != nil {
		return err
	}
	if len(b) > 8 {
		return m.push(long(b))
	}
	var wide [8]byte
	copy(wide[:], b)
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		for i := len(b); i < len(wide); i++ {
			wide[i] = 0xff
		}
	}
	return m.push(int64(binary.LittleEndian.Uint64(wide[:]))) //nolint:gosec // The bits of a signed integer.
}

func (m *machine) float() error {
	b, err := m.in.take(8)
	if err != nil {
		return err
	}
	return m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
}

// text pushes a string that has its length before it, in n bytes.
func (m *machine) text(n int64) error {
	length, err := m.in.number(n)
	if err != nil {
		return err
	}
	b, err := m.in.take(int64(min(length, maxString+1)))
	if err != nil {
		return err
	}
	return m.push(string(b))
}

// name pushes a class or a function, if a pickle of tensors may name it.
func (m *machine) name(module, name string) error {
	g := global(module + "." + name)
	if !allowed(g) {
		return moreThanTensors(string(g))
	}
	return m.push(g)
}
