package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite" // registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// busyTimeout is how long a writer waits for another process that holds the file.
	busyTimeout = 10 * time.Second
	// readers bounds the connections that read: each one has a cache of its own, and more of them than cores gain nothing.
	readers = 4
)

// SQLite keeps the records in one file: embedded, safe against kill -9 (write-ahead log, synchronous=FULL), and readable
// by other processes while the service writes.
type SQLite struct {
	// write has one connection, so that writers of this process queue in Go and not in SQLite's busy handler.
	write, read *sql.DB
	commits     *committer
	newest      newest
	// The statements that every step of a job needs.
	insert, update, rewrite, rekey, byRun *sql.Stmt
	// lists are those that List and Each have needed, *sql.Stmt by text.
	lists sync.Map
	keys  *Keyring
	id    string
	now   func() time.Time
	// leftOut is called for each record that a list leaves out.
	leftOut func(run string, why error)
	// erased: the write-ahead log may hold a key that this handle has erased. looked: Shred has emptied the log once.
	erased, looked, closed atomic.Bool
}

var _ Store = (*SQLite)(nil)

// Option changes how a store is opened.
type Option func(*SQLite)

// WithKeys seals users' keys that are stored from now on. Reseal seals the keys that are there already. If the state key of one
// of them is not in the ring, opening is a permanent error and the store is unchanged.
func WithKeys(k *Keyring) Option { return func(s *SQLite) { s.keys = k } }

// WithLeftOut calls tell with the name of each record that Each and List leave out. The error wraps ErrTooLarge or ErrDamaged.
func WithLeftOut(tell func(run string, why error)) Option {
	return func(s *SQLite) { s.leftOut = tell }
}

// OpenSQLite opens the store at path and makes it if needed, readable by the owner only, since it holds users' keys.
func OpenSQLite(ctx context.Context, path string, options ...Option) (*SQLite, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the job store: %w", err)
	}
	// The log and the shared memory that SQLite puts beside the file get the file's own mode.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the job store: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return nil, fmt.Errorf("open the job store: %w", err)
	}
	s := &SQLite{now: time.Now, leftOut: func(string, error) {}}
	for _, o := range options {
		o(s)
	}
	if s.write, err = open(path, "immediate", 1); err != nil {
		return nil, err
	}
	if s.read, err = open(path, "deferred", readers); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the job store %s: %w", path, withRemedy(err)), s.Close())
	}
	return s, nil
}

// withRemedy adds to an error about a damaged file what to do with it.
func withRemedy(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		if code := e.Code() & 0xff; code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB {
			return fmt.Errorf("%w: restore it from a backup, or move it away to start with an empty job store", err)
		}
	}
	return err
}

func open(path, txlock string, connections int) (*sql.DB, error) {
	q := url.Values{"_txlock": {txlock}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
		"secure_delete(ON)", // what is erased is overwritten
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open the job store: %w", err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// prepare migrates the file and checks that all users' keys in it can be opened.
func (s *SQLite) prepare(ctx context.Context) error {
	if err := migrate(ctx, s.write); err != nil {
		return err
	}
	if err := s.read.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'id'").Scan(&s.id); err != nil {
		return err
	}
	if err := s.checkSeals(ctx); err != nil {
		return err
	}
	s.commits = newCommitter(s.write)
	var errs [5]error
	s.insert, errs[0] = s.write.PrepareContext(ctx, insertRecord)
	s.update, errs[1] = s.write.PrepareContext(ctx, updateRecord)
	s.rewrite, errs[2] = s.write.PrepareContext(ctx, rewriteRecord)
	s.rekey, errs[3] = s.write.PrepareContext(ctx, rekeyRecord)
	s.byRun, errs[4] = s.read.PrepareContext(ctx, recordByRun)
	return errors.Join(errs[:]...)
}

// prepared is the statement that reads the records of a query. It is parsed once for all queries of this form, and closed with the store.
func (s *SQLite) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if known, ok := s.lists.Load(text); ok {
		return known.(*sql.Stmt), nil
	}
	made, err := s.read.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	kept, other := s.lists.LoadOrStore(text, made)
	if other {
		_ = made.Close()
	}
	return kept.(*sql.Stmt), nil
}

// ID identifies this store permanently: anything outside that carries it belongs to a record of this store or to none.
func (s *SQLite) ID() string { return s.id }

// Close closes the file. What this handle has erased is then not in the write-ahead log either, unless another process reads
// at that moment; the service empties the log at its next start. Closing twice is no error.
func (s *SQLite) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	err := s.read.Close()
	if s.erased.Load() {
		if shredErr := s.Shred(context.Background()); !errors.Is(shredErr, errStillRead) {
			err = errors.Join(err, shredErr)
		}
	}
	return errors.Join(err, s.write.Close())
}
