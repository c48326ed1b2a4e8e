package pickle

import "fmt"

// The instructions that PyTorch writes, by the names of Python's pickle module. All others are refused.
const (
	opMark           = '('
	opStop           = '.'
	opPop            = '0'
	opPopMark        = '1'
	opDup            = '2'
	opBinFloat       = 'G'
	opBinInt         = 'J'
	opBinInt1        = 'K'
	opBinInt2        = 'M'
	opNone           = 'N'
	opBinPersID      = 'Q'
	opReduce         = 'R'
	opBinString      = 'T'
	opShortBinString = 'U'
	opBinUnicode     = 'X'
	opAppend         = 'a'
	opBuild          = 'b'
	opGlobal         = 'c'
	opAppends        = 'e'
	opBinGet         = 'h'
	opLongBinGet     = 'j'
	opBinPut         = 'q'
	opLongBinPut     = 'r'
	opSetItem        = 's'
	opTuple          = 't'
	opSetItems       = 'u'
	opEmptyList      = ']'
	opEmptyDict      = '}'
	opEmptyTuple     = ')'
	opProto          = 0x80
	opTuple1         = 0x85
	opTuple2         = 0x86
	opTuple3         = 0x87
	opNewTrue        = 0x88
	opNewFalse       = 0x89
	opLong1          = 0x8a
	opShortUnicode   = 0x8c
	opStackGlobal    = 0x93
	opMemoize        = 0x94
	opFrame          = 0x95
)

const newestProtocol = 5

// plain are the instructions without an operand in the file.
var plain = map[byte]func(*machine) error{
	opMark:        func(m *machine) error { m.marks = append(m.marks, len(m.stack)); return nil },
	opPop:         func(m *machine) error { _, err := m.pop(); return err },
	opPopMark:     func(m *machine) error { _, err := m.popMark(); return err },
	opDup:         (*machine).double,
	opBinFloat:    (*machine).float,
	opNone:        func(m *machine) error { return m.push(nil) },
	opNewTrue:     func(m *machine) error { return m.push(true) },
	opNewFalse:    func(m *machine) error { return m.push(false) },
	opBinInt:      func(m *machine) error { return m.integer(4) },
	opBinPersID:   (*machine).persist,
	opReduce:      (*machine).reduce,
	opBuild:       (*machine).build,
	opGlobal:      (*machine).global,
	opStackGlobal: (*machine).stackGlobal,
	opEmptyList:   func(m *machine) error { return m.push(&list{}) },
	opEmptyDict:   func(m *machine) error { return m.push(&dict{}) },
	opEmptyTuple:  func(m *machine) error { return m.push(tuple(nil)) },
	opTuple:       func(m *machine) error { return m.tuple(m.popMark()) },
	opTuple1:      func(m *machine) error { return m.tuple(m.popN(1)) },
	opTuple2:      func(m *machine) error { return m.tuple(m.popN(2)) },
	opTuple3:      func(m *machine) error { return m.tuple(m.popN(3)) },
	opAppend:      func(m *machine) error { return m.extend(m.popN(1)) },
	opAppends:     func(m *machine) error { return m.extend(m.popMark()) },
	opSetItem:     func(m *machine) error { return m.set(m.popN(2)) },
	opSetItems:    func(m *machine) error { return m.set(m.popMark()) },
	opMemoize:     func(m *machine) error { return m.remember(uint64(len(m.memo))) },
	opBinString:   func(m *machine) error { return m.text(4) },
	opBinUnicode:  func(m *machine) error { return m.text(4) },

	opShortBinString: func(m *machine) error { return m.text(1) },
	opShortUnicode:   func(m *machine) error { return m.text(1) },
}

// numbered are the instructions with an unsigned operand, and its bytes.
var numbered = map[byte]struct {
	bytes int64
	do    func(*machine, uint64) error
}{
	opProto:      {1, protocol},
	opFrame:      {8, func(*machine, uint64) error { return nil }},
	opBinInt1:    {1, func(m *machine, n uint64) error { return m.push(int64(n)) }},
	opBinInt2:    {2, func(m *machine, n uint64) error { return m.push(int64(n)) }},
	opLong1:      {1, func(m *machine, n uint64) error { return m.integer(int64(n)) }},
	opBinGet:     {1, (*machine).recall},
	opLongBinGet: {4, (*machine).recall},
	opBinPut:     {1, (*machine).remember},
	opLongBinPut: {4, (*machine).remember},
}

func (m *machine) step(code byte) error {
	if do, there := plain[code]; there {
		return do(m)
	}
	with, there := numbered[code]
	if !there {
		return moreThanTensors(fmt.Sprintf("instruction 0x%02x", code))
	}
	n, err := m.in.number(with.bytes)
	if err != nil {
		return err
	}
	return with.do(m, n)
}

func protocol(_ *machine, version uint64) error {
	if version > newestProtocol {
		return damaged("a pickle of protocol %d", version)
	}
	return nil
}

func (m *machine) double() error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	m.stack = append(m.stack, v, v)
	return nil
}

func (m *machine) tuple(values []any, err error) error {
	if err != nil {
		return err
	}
	return m.push(tuple(values))
}

func (m *machine) extend(values []any, err error) error {
	if err != nil {
		return err
	}
	v, err := m.pop()
	if err != nil {
		return err
	}
	l, isList := v.(*list)
	if !isList {
		return damaged("its pickle appends to what is no list")
	}
	l.items = append(l.items, values...)
	return m.push(l)
}

func (m *machine) set(values []any, err error) error {
	if err != nil {
		return err
	}
	v, err := m.pop()
	if err != nil {
		return err
	}
	d, isDict := v.(*dict)
	if !isDict || len(values)%2 != 0 {
		return damaged("its pickle sets items of what is no dictionary")
	}
	for i := 0; i < len(values); i += 2 {
		d.keys, d.values = append(d.keys, values[i]), append(d.values, values[i+1])
	}
	return m.push(d)
}

func (m *machine) global() error {
	module, err := m.in.line()
	if err != nil {
		return err
	}
	name, err := m.in.line()
	if err != nil {
		return err
	}
	return m.name(module, name)
}

func (m *machine) stackGlobal() error {
	names, err := m.popN(2)
	if err != nil {
		return err
	}
	module, isText := names[0].(string)
	name, isTextToo := names[1].(string)
	if !isText || !isTextToo {
		return damaged("its pickle names a class by what is no text")
	}
	return m.name(module, name)
}

func (m *machine) persist() error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	id, isTuple := v.(tuple)
	if !isTuple || m.persistent == nil {
		return damaged("its pickle names a storage in an unknown way")
	}
	found, err := m.persistent(id)
	if err != nil {
		return err
	}
	return m.push(found)
}

// build is the state of an object. Dictionaries of weights carry versions of their modules, which nothing reads.
func (m *machine) build() error {
	values, err := m.popN(2)
	if err != nil {
		return err
	}
	if _, isDict := values[0].(*dict); !isDict {
		return moreThanTensors("an object with a state")
	}
	return m.push(values[0])
}

// reduce is a call of a function.
func (m *machine) reduce() error {
	values, err := m.popN(2)
	if err != nil {
		return err
	}
	function, isGlobal := values[0].(global)
	args, isTuple := values[1].(tuple)
	if !isGlobal || !isTuple {
		return damaged("its pickle calls what is no function")
	}
	switch {
	case function == orderedDict && len(args) == 0:
		return m.push(&dict{})
	case function == rebuildTensor:
		v, err := rebuilt(args)
		if err != nil {
			return err
		}
		return m.push(v)
	case function == rebuildParameter && len(args) > 0:
		v, isTensor := args[0].(*tensor)
		if !isTensor {
			return damaged("a parameter without a tensor")
		}
		return m.push(v)
	}
	return moreThanTensors("a call of " + string(function))
}
