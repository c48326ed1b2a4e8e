package job

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound is returned for a run that the store does not know.
var ErrNotFound = errors.New("no such job")

// ErrOtherContent is returned by Accept when the job id is known with another content: the first one wins.
var ErrOtherContent = errors.New("this job id is already taken by a different request")

// ErrTooLarge is returned for a record that is larger than a store keeps: by Accept, Change and Amend as a permanent error
// that says what to do, with nothing written, and by Get where an older version wrote such a record.
var ErrTooLarge = errors.New("what must be remembered of this job is too large")

// ErrDamaged is returned by Get, Change and Amend for a record that cannot be read, because another program changed it or a disk
// lost a part of it. The record stays as it is. Other jobs are not affected.
var ErrDamaged = errors.New("the record of this job is damaged")

// WriteTimeout bounds one write to the store that a stop must not cut off, other processes that hold the store included.
const WriteTimeout = 15 * time.Second

// Store keeps records durably: after a nil return the change is on disk. Several processes may use one store at once.
// The conformance test in package jobtest says exactly what an implementation promises.
type Store interface {
	// Accept stores a new record. Where the run is known already it returns the stored one and created=false, or
	// ErrOtherContent if that one has another content.
	Accept(ctx context.Context, rec Record) (stored Record, created bool, err error)
	// Get returns one record, or ErrNotFound.
	Get(ctx context.Context, run string) (Record, error)
	// Change reads the record, lets fn alter the copy and writes it if nobody else wrote meanwhile; else it begins again,
	// so fn may run more than once. An error of fn is returned as it is and nothing is written.
	Change(ctx context.Context, run string, fn func(*Record) error) (Record, error)
	// Amend is Change for a caller who has the record: it is read only where it is no longer the stored one.
	Amend(ctx context.Context, rec Record, fn func(*Record) error) (Record, error)
	// List returns the records that match, oldest first. One that is too large or damaged is left out.
	List(ctx context.Context, q Query) ([]Record, error)
	// Each calls fn for each of these records in turn, for callers that cannot hold all of them at once. An error of fn ends it
	// and is returned as it is.
	Each(ctx context.Context, q Query, fn func(Record) error) error
	// Forget removes the records that are over and were last changed before, and returns their number. A message of such a
	// job would be a new one.
	Forget(ctx context.Context, before time.Time) (int, error)
	// Shred removes erased keys from all files of the store, also from the write-ahead log. It
	// does nothing where this handle has erased nothing since the last time; the first time it always looks, for what an
	// earlier process has left. An error says that the log is still being read, or cannot be emptied: the next call tries again.
	Shred(ctx context.Context) error
	// Close releases the store. The other methods must not be called after it.
	Close() error
}

// Query narrows List. Its zero value matches everything.
type Query struct {
	// Active leaves out the records in a terminal state, Over the others.
	Active, Over bool
	// WithKey leaves out the records whose user's key is erased.
	WithKey bool
	// ChangedAfter leaves out the records last changed at or before it, ChangedBefore those last changed at or after it.
	ChangedAfter, ChangedBefore time.Time
	// Dataset leaves out the records about other datasets.
	Dataset string
	// User leaves out the records of other users, by Record.User.
	User string
	// Before leaves out that record and the newer ones; the zero value leaves out none.
	Before Position
	// Limit ends the list after that many newest records; 0 means no limit.
	Limit int
}

// Position is the place of a record in the list of all records by time.
type Position struct {
	Created time.Time
	Run     string
}

// Position returns the place of the record in lists.
func (r *Record) Position() Position { return Position{Created: r.Created, Run: r.Run} }
