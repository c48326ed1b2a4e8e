package job

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

//go:embed schema.sql
var schema string

// busyTimeout is how long a writer waits for another process that holds the file.
const busyTimeout = 10 * time.Second

// SQLite keeps the records in one file: embedded, safe against kill -9 (write-ahead log, synchronous=FULL), and readable
// by other processes while the service writes.
type SQLite struct {
	// write has one connection, so that writers of this process queue in Go and not in SQLite's busy handler.
	write, read *sql.DB
	now         func() time.Time
}

var _ Store = (*SQLite)(nil)

// OpenSQLite opens the store at path and makes it if needed, readable by the owner only, since it holds users' keys.
func OpenSQLite(ctx context.Context, path string) (*SQLite, error) {
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
	s := &SQLite{now: time.Now}
	if s.write, err = open(path, "immediate"); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = open(path, "deferred"); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	if _, err := s.write.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the job store %s: %w", path, err), s.Close())
	}
	return s, nil
}

func open(path, txlock string) (*sql.DB, error) {
	q := url.Values{"_txlock": {txlock}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open the job store: %w", err)
	}
	return db, nil
}

// Close closes the file.
func (s *SQLite) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }

// Accept implements Store.
func (s *SQLite) Accept(ctx context.Context, rec Record) (Record, bool, error) {
	rec.Version, rec.Created = 1, s.now().UTC()
	rec.Updated = rec.Created
	doc, err := json.Marshal(rec)
	if err != nil {
		return Record{}, false, fmt.Errorf("encode job %s: %w", rec.Run, err)
	}
	res, err := s.write.ExecContext(ctx, `INSERT INTO jobs (run, version, state, active, created, updated, secret, record)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING`,
		rec.Run, rec.Version, rec.State, rec.Active(), rec.Created.UnixNano(), rec.Updated.UnixNano(), rec.SecretKey.Reveal(), doc)
	if err != nil {
		return Record{}, false, fmt.Errorf("accept job %s: %w", rec.Run, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return rec, true, err
	}
	stored, err := s.Get(ctx, rec.Run)
	if err == nil && stored.Request.BodyHash != rec.Request.BodyHash {
		err = fmt.Errorf("accept job %s: %w", rec.Run, ErrOtherContent)
	}
	return stored, false, err
}

// columns are what scan reads, in its order.
const columns = "version, secret, record"

// Get implements Store.
func (s *SQLite) Get(ctx context.Context, run string) (Record, error) {
	rec, err := scan(s.read.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE run = ?", run))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Record{}, fmt.Errorf("read job %s: %w", run, err)
	}
	return rec, nil
}

// Change implements Store.
func (s *SQLite) Change(ctx context.Context, run string, fn func(*Record) error) (Record, error) {
	for {
		old, err := s.Get(ctx, run)
		if err != nil {
			return Record{}, err
		}
		next := old
		if err := fn(&next); err != nil {
			return Record{}, err
		}
		if err := checkChange(old, next); err != nil {
			return Record{}, err
		}
		next.Version, next.Updated = old.Version+1, s.now().UTC()
		written, err := s.replace(ctx, next)
		if err != nil {
			return Record{}, fmt.Errorf("write job %s: %w", run, err)
		}
		if written {
			return next, nil
		}
	}
}

// replace writes rec if the stored version is the one before it.
func (s *SQLite) replace(ctx context.Context, rec Record) (bool, error) {
	doc, err := json.Marshal(rec)
	if err != nil {
		return false, err
	}
	res, err := s.write.ExecContext(ctx, `UPDATE jobs SET version = ?, state = ?, active = ?, updated = ?, secret = ?, record = ?
		WHERE run = ? AND version = ?`,
		rec.Version, rec.State, rec.Active(), rec.Updated.UnixNano(), rec.SecretKey.Reveal(), doc, rec.Run, rec.Version-1)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// List implements Store.
func (s *SQLite) List(ctx context.Context, q Query) ([]Record, error) {
	limit := -1
	if q.Limit > 0 {
		limit = q.Limit
	}
	var after int64
	if !q.ChangedAfter.IsZero() {
		after = q.ChangedAfter.UnixNano()
	}
	rows, err := s.read.QueryContext(ctx, `SELECT `+columns+` FROM (
			SELECT * FROM jobs WHERE active >= ? AND updated > ? ORDER BY created DESC, run LIMIT ?
		) ORDER BY created, run`, q.Active, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Record
	for rows.Next() {
		rec, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("list jobs: %w", err)
		}
		out = append(out, rec)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return out, nil
}

func scan(row interface{ Scan(dest ...any) error }) (Record, error) {
	var (
		rec    Record
		secret string
		doc    []byte
	)
	if err := row.Scan(&rec.Version, &secret, &doc); err != nil {
		return Record{}, err
	}
	if err := json.Unmarshal(doc, &rec); err != nil {
		return Record{}, fmt.Errorf("decode the record: %w", err)
	}
	rec.SecretKey = Secret(secret)
	return rec, nil
}
