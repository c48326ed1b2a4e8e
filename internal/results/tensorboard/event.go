package tensorboard

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of the messages Event, SessionLog, Summary, Summary.Value, TensorProto and TensorShapeProto of TensorBoard.
const (
	eventWallTime   = 1
	eventStep       = 2
	eventSummary    = 5
	eventSessionLog = 7

	sessionStatus = 1
	sessionStart  = 1 // the value of status

	summaryValue = 1

	valueTag    = 1
	valueSimple = 2
	valueTensor = 8

	tensorType    = 1
	tensorShape   = 2
	tensorContent = 4
	tensorFloats  = 5
	tensorDoubles = 6
	tensorInts    = 7
	tensorInt64s  = 10

	shapeDim = 2
	dimSize  = 1

	typeFloat  = 1
	typeDouble = 2
)

// event is what is taken of one Event.
type event struct {
	wall float64 // seconds since 1970
	step int64
	// purge says that a program that goes on writes from step on: what earlier files have from there on is void.
	purge  bool
	values []value
}

type value struct {
	tag    string
	number float64
}

// field is one field of a message: number has a varint or the bits of a fixed value, bytes a nested message, a text or packed values.
type field struct {
	id     protowire.Number
	kind   protowire.Type
	number uint64
	bytes  []byte
}

// fields splits a message into its fields. It returns false if b is no message.
func fields(b []byte, visit func(f field)) bool {
	for len(b) > 0 {
		id, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		f := field{id: id, kind: kind}
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			f.number = uint64(v)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(id, kind, b)
		}
		if n < 0 {
			return false
		}
		b = b[n:]
		visit(f)
	}
	return true
}

// decodeEvent reads an Event. It returns false if data is none. Values that are no scalars are left out.
func decodeEvent(data []byte) (event, bool) {
	var e event
	ok := fields(data, func(f field) {
		switch {
		case f.id == eventWallTime && f.kind == protowire.Fixed64Type:
			e.wall = math.Float64frombits(f.number)
		case f.id == eventStep && f.kind == protowire.VarintType:
			e.step = int64(f.number) //nolint:gosec // G115: int64 is sent as the bits of uint64
		case f.id == eventSessionLog && f.kind == protowire.BytesType:
			fields(f.bytes, func(f field) { e.purge = e.purge || f.id == sessionStatus && f.number == sessionStart })
		case f.id == eventSummary && f.kind == protowire.BytesType:
			fields(f.bytes, func(f field) {
				if v, ok := decodeValue(f); ok {
					e.values = append(e.values, v)
				}
			})
		}
	})
	return e, ok
}

// decodeValue reads a Summary.Value. It returns false if it is no scalar.
func decodeValue(f field) (value, bool) {
	if f.id != summaryValue || f.kind != protowire.BytesType {
		return value{}, false
	}
	var v value
	scalar := false
	ok := fields(f.bytes, func(f field) {
		switch {
		case f.id == valueTag && f.kind == protowire.BytesType:
			v.tag = string(f.bytes)
		case f.id == valueSimple && f.kind == protowire.Fixed32Type:
			v.number, scalar = float64(math.Float32frombits(uint32(f.number))), true //nolint:gosec // G115: a fixed32 has 32 bits
		case f.id == valueTensor && f.kind == protowire.BytesType:
			if number, ok := decodeTensor(f.bytes); ok {
				v.number, scalar = number, true
			}
		}
	})
	return v, ok && scalar && v.tag != ""
}

// decodeTensor reads a TensorProto of one number, which newer writers use for a scalar.
func decodeTensor(b []byte) (float64, bool) {
	var kind uint64
	var content, packed []byte
	var number float64
	found, one := false, true
	ok := fields(b, func(f field) {
		switch int(f.id) {
		case tensorType:
			kind = f.number
		case tensorShape:
			one = isOne(f.bytes)
		case tensorContent:
			content = f.bytes
		case tensorFloats, tensorDoubles, tensorInts, tensorInt64s:
			if f.kind == protowire.BytesType {
				packed = f.bytes
				number, found = unpack(f.id, packed)
				return
			}
			number, found = plain(f), true
		}
	})
	if !found {
		switch {
		case kind == typeFloat && len(content) == 4:
			number, found = unpack(tensorFloats, content)
		case kind == typeDouble && len(content) == 8:
			number, found = unpack(tensorDoubles, content)
		}
	}
	return number, ok && one && found
}

// isOne reports whether a tensor of this shape has one number.
func isOne(shape []byte) bool {
	one := true
	fields(shape, func(f field) {
		if f.id != shapeDim {
			return
		}
		size := uint64(0)
		fields(f.bytes, func(f field) {
			if f.id == dimSize {
				size = f.number
			}
		})
		one = one && size == 1
	})
	return one
}

// plain is a number that stands as a field of its own.
func plain(f field) float64 {
	switch f.kind {
	case protowire.Fixed32Type:
		return float64(math.Float32frombits(uint32(f.number))) //nolint:gosec // G115: a fixed32 has 32 bits
	case protowire.Fixed64Type:
		return math.Float64frombits(f.number)
	default:
		return float64(int64(f.number)) //nolint:gosec // G115: int64 is sent as the bits of uint64
	}
}

// unpack is the number in a packed list of one.
func unpack(id protowire.Number, b []byte) (float64, bool) {
	switch {
	case id == tensorFloats && len(b) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true
	case id == tensorDoubles && len(b) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), true
	case id == tensorInts || id == tensorInt64s:
		v, n := protowire.ConsumeVarint(b)
		return float64(int64(v)), n == len(b) && n > 0 //nolint:gosec // G115: int64 is sent as the bits of uint64
	default:
		return 0, false
	}
}
