package clowder

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/job"
)

// maxNotes is how many entries of metadata are read of one file or dataset.
const maxNotes = 10_000

// ErrManyNotes says that a file or dataset has so much metadata that the service does not read it: a part of it could hold an older word.
var ErrManyNotes = job.Permanent(errors.New("it has more metadata than this service reads (10,000 entries or 200,000 values): delete entries that nobody needs in Clowder"))

// maxEntriesBytes is the size in bytes of the longest list of metadata in which an entry is looked for. Nothing of it is kept, and a list that is not
// read to its end would lead to an entry twice.
const maxEntriesBytes = 2 << 30

// FindEntry looks for an entry in a list of metadata as it arrives, in memory that does not depend on the length of the list. Entries that read
// does not take are passed over.
func (w *Wire) FindEntry(ctx context.Context, c Call, read func(json.RawMessage) (Metadata, bool), match func(Metadata) bool) (found Metadata, ok bool, err error) {
	c.MostBytes = maxEntriesBytes
	err = w.Rows(ctx, c, func() {}, func(raw json.RawMessage) error {
		if m, taken := read(raw); taken && match(m) {
			found, ok = m, true
			return ErrEnough
		}
		return nil
	})
	return found, ok, err
}

// Notes reads a list of metadata as it arrives, and stops with ErrManyNotes where it is longer than the service reads. Entries that read does
// not take are left out.
func (w *Wire) Notes(ctx context.Context, c Call, read func(json.RawMessage) (Note, bool)) ([]Note, error) {
	var out []Note
	values := 0
	err := w.Rows(ctx, c, func() { out, values = nil, 0 }, func(raw json.RawMessage) error {
		_, size := jsonscan.Measure(raw)
		if values += size; values > jsonscan.MaxRowValues || len(out) == maxNotes {
			return ErrManyNotes
		}
		if note, ok := read(raw); ok {
			out = append(out, note)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
