package tensorboard

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// errDamaged ends the reading of a file. What came before is kept.
var errDamaged = errors.New("the record is damaged")

// maxRecord bounds a record that is decoded. One of scalars has some hundred bytes; longer ones have pictures and histograms.
const maxRecord = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is the checksum of the TFRecord format.
func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// nextRecord reads one record: its length (8 bytes), a checksum of that, the data, and a checksum of them. It returns nil data for a record
// that is longer than maxRecord, which it skips. At the end of the file it returns io.EOF; in the middle of a record, as a writer leaves it
// that was killed, io.ErrUnexpectedEOF.
func nextRecord(r io.Reader) ([]byte, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	if masked(head[:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return nil, errDamaged
	}
	length := binary.LittleEndian.Uint64(head[:8])
	if length > maxRecord {
		if length > MaxBytes {
			return nil, errDamaged
		}
		if _, err := io.CopyN(io.Discard, r, int64(length)+4); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, nil
	}
	body := make([]byte, length+4)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	data, sum := body[:length], body[length:]
	if masked(data) != binary.LittleEndian.Uint32(sum) {
		return nil, errDamaged
	}
	return data, nil
}
