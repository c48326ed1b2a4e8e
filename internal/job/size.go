package job

import (
	"encoding/json"
	"fmt"
)

const (
	// maxRecordBytes is the largest record that is written, as JSON. What an honest job needs most: 64 kB of parameters (up to six
	// times that where each character is escaped), a model of 10,000 labels (half a megabyte), a ledger of 100 batches and 40
	// files (70 kB), and settings and file lists of some kilobytes.
	maxRecordBytes = 1 << 20
	// endReserve is what the end of a job may need on top, so that a job whose record is full can still be ended.
	endReserve = 128 << 10
	// readableBytes is the largest record that is read. Decoding costs up to a hundred times as much memory.
	readableBytes = maxRecordBytes + endReserve
)

// encode returns the record as it is stored, or ErrTooLarge.
func encode(rec Record) ([]byte, error) {
	doc, err := json.Marshal(rec)
	if err != nil {
		return nil, fmt.Errorf("encode job %s: %w", rec.Run, err)
	}
	limit := maxRecordBytes
	if rec.Ending != nil {
		limit = readableBytes
	}
	if len(doc) > limit {
		return nil, Permanent(fmt.Errorf("%w (%s, at most %s are kept): submit it again with the fields of the form only, and short values",
			ErrTooLarge, megabytes(len(doc)), megabytes(maxRecordBytes)))
	}
	return doc, nil
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
