package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Accept implements Store.
func (s *SQLite) Accept(ctx context.Context, rec Record) (Record, bool, error) {
	rec.Version, rec.Created = 1, s.now().UTC()
	rec.Updated = rec.Created
	doc, err := encode(rec)
	if err != nil {
		return Record{}, false, err
	}
	key := s.keys.seal(rec.Run, rec.SecretKey)
	n, err := s.commits.exec(ctx, s.insert, rec.Run, rec.Version, rec.State, rec.Active(), rec.Created.UnixNano(), rec.Updated.UnixNano(),
		key.text, key.by, rec.Request.DatasetID, rec.User, doc)
	if err != nil {
		return Record{}, false, fmt.Errorf("accept job %s: %w", rec.Run, err)
	}
	if n == 1 {
		s.newest.keep(rec)
		return rec, true, nil
	}
	stored, err := s.Get(ctx, rec.Run)
	if err == nil && stored.Request.BodyHash != rec.Request.BodyHash {
		err = fmt.Errorf("accept job %s: %w", rec.Run, ErrOtherContent)
	}
	return stored, false, err
}

// columns are what scan reads, in its order. A record that is too large is not even fetched.
var columns = fmt.Sprintf("run, version, secret, sealed_by, CASE WHEN length(record) <= %d THEN record END", readableBytes)

var recordByRun = "SELECT " + columns + " FROM jobs WHERE run = ?" //nolint:gosec // the columns are fixed texts

const (
	insertRecord = `INSERT INTO jobs (run, version, state, active, created, updated, secret, sealed_by, dataset, user, record)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING`
	// updateRecord writes the next version of a record if the stored one is the version before it. rewriteRecord also writes what seldom
	// changes: SQLite writes the index of a column that is set, even to the same value. rekeyRecord also writes the user's key.
	updateRecord  = `UPDATE jobs SET ` + always
	rewriteRecord = `UPDATE jobs SET active = ?, dataset = ?, user = ?, ` + always
	rekeyRecord   = `UPDATE jobs SET secret = ?, sealed_by = ?, active = ?, dataset = ?, user = ?, ` + always
	always        = `version = ?, state = ?, updated = ?, record = ? WHERE run = ? AND version = ?`
)

// Get implements Store.
func (s *SQLite) Get(ctx context.Context, run string) (Record, error) {
	rec, err := s.scan(s.byRun.QueryRowContext(ctx, run))
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
	if rec, ok := s.newest.newer(run, 0); ok {
		return s.amend(ctx, rec, true, fn)
	}
	rec, err := s.Get(ctx, run)
	if err != nil {
		return Record{}, err
	}
	return s.amend(ctx, rec, false, fn)
}

// Amend implements Store.
func (s *SQLite) Amend(ctx context.Context, rec Record, fn func(*Record) error) (Record, error) {
	if newer, ok := s.newest.newer(rec.Run, rec.Version); ok {
		return s.amend(ctx, newer, true, fn)
	}
	return s.amend(ctx, rec, false, fn)
}

// amend writes what fn makes of rec. If rec is from memory, fn has the last word on the stored record only: what it refuses in the one from
// memory is read again.
func (s *SQLite) amend(ctx context.Context, rec Record, memory bool, fn func(*Record) error) (Record, error) {
	for {
		next := rec
		err := fn(&next)
		if err == nil {
			err = checkChange(rec, next)
		}
		if err != nil && !memory {
			return Record{}, err
		}
		written := false
		if err == nil {
			next.Version, next.Updated = rec.Version+1, s.now().UTC()
			written, err = s.replace(ctx, rec, next)
			if errors.Is(err, ErrTooLarge) {
				return Record{}, err
			}
			if err != nil {
				return Record{}, fmt.Errorf("write job %s: %w", rec.Run, err)
			}
		}
		if written {
			s.newest.keep(next)
			return next, nil
		}
		if rec, err = s.Get(ctx, rec.Run); err != nil {
			return Record{}, err
		}
		memory = false
	}
}

// replace writes next, which follows on old, if old is still the stored version.
func (s *SQLite) replace(ctx context.Context, old, next Record) (bool, error) {
	doc, err := encode(next)
	if err != nil {
		return false, err
	}
	args, update := []any{next.Version, next.State, next.Updated.UnixNano(), doc, next.Run, old.Version}, s.update
	rekeyed := next.SecretKey != old.SecretKey
	if rekeyed || next.Active() != old.Active() || next.User != old.User || next.Request.DatasetID != old.Request.DatasetID {
		args, update = append([]any{next.Active(), next.Request.DatasetID, next.User}, args...), s.rewrite
	}
	if rekeyed {
		key := s.keys.seal(next.Run, next.SecretKey)
		args, update = append([]any{key.text, key.by}, args...), s.rekey
		defer s.erased.Store(true) // once it is written, or may be
	}
	n, err := s.commits.exec(ctx, update, args...)
	return n == 1, err
}

// List implements Store.
func (s *SQLite) List(ctx context.Context, q Query) (out []Record, err error) {
	err = s.Each(ctx, q, func(rec Record) error { out = append(out, rec); return nil })
	return out, err
}

// Each implements Store.
func (s *SQLite) Each(ctx context.Context, q Query, fn func(Record) error) error {
	if !q.ChangedAfter.IsZero() {
		return s.eachChanged(ctx, q, fn)
	}
	rows, err := s.query(ctx, q, columns)
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		rec, err := s.scan(rows)
		if err := s.pass(rec, err, fn); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	return nil
}

// eachChanged is Each for the records that changed last, which this process has mostly written itself: these come from memory.
func (s *SQLite) eachChanged(ctx context.Context, q Query, fn func(Record) error) error {
	rows, err := s.query(ctx, q, "run, version")
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var records []Record
	for rows.Next() {
		var rec Record
		if err := rows.Scan(&rec.Run, &rec.Version); err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		records = append(records, rec)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	for _, named := range records {
		rec, ok := s.newest.newer(named.Run, named.Version-1)
		var err error
		if !ok {
			rec, err = s.Get(ctx, named.Run)
			rec.Run = named.Run // also of one that cannot be read
		}
		if errors.Is(err, ErrNotFound) { // it was forgotten in the meantime
			continue
		}
		if err := s.pass(rec, err, fn); err != nil {
			return err
		}
	}
	return nil
}

// query selects what is read of the records that match. The newest are found by key and index alone; only those that are wanted are read.
func (s *SQLite) query(ctx context.Context, q Query, read string) (*sql.Rows, error) {
	where, args := q.where()
	limit := -1
	if q.Limit > 0 {
		limit = q.Limit
	}
	list, err := s.prepared(ctx, `SELECT `+read+` FROM jobs WHERE run IN (
			SELECT run FROM jobs WHERE `+where+` ORDER BY created DESC, run LIMIT ?
		) ORDER BY created, run`)
	if err != nil {
		return nil, err
	}
	return list.QueryContext(ctx, append(args, limit)...)
}

// pass calls fn with a record that was read. One that is too large or damaged is left out.
func (s *SQLite) pass(rec Record, err error, fn func(Record) error) error {
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrDamaged) {
		s.leftOut(rec.Run, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	return fn(rec)
}

// where is the condition of q. It names only what is asked for, so that SQLite can pick the index for it.
func (q Query) where() (condition string, args []any) {
	conditions := []string{"1"}
	add := func(wanted bool, text string, values ...any) {
		if wanted {
			conditions = append(conditions, text)
			args = append(args, values...)
		}
	}
	// The newest changes are few; the plus keeps SQLite from looking for them among all active records.
	active := "active"
	if !q.ChangedAfter.IsZero() {
		active = "+active"
	}
	add(q.Active, active+" = 1")
	add(q.Over, active+" = 0")
	add(q.WithKey, "secret <> ''")
	add(q.Dataset != "", "dataset = ?", q.Dataset)
	add(q.User != "", "user = ?", q.User)
	before := q.Before.Created.UnixNano()
	add(!q.Before.Created.IsZero(), "(created < ? OR created = ? AND run > ?)", before, before, q.Before.Run)
	add(!q.ChangedAfter.IsZero(), "updated > ?", q.ChangedAfter.UnixNano())
	add(!q.ChangedBefore.IsZero(), "updated < ?", q.ChangedBefore.UnixNano())
	return strings.Join(conditions, " AND "), args
}

// Forget implements Store. What is forgotten, and what was erased before, is not left in the files of the store either. A record that
// is no JSON stays: a backup can still replace it.
func (s *SQLite) Forget(ctx context.Context, before time.Time) (int, error) {
	res, err := s.write.ExecContext(ctx, "DELETE FROM jobs WHERE active = 0 AND updated < ? AND json_valid(CAST(record AS TEXT))", before.UnixNano())
	if err != nil {
		return 0, fmt.Errorf("forget old jobs: %w", err)
	}
	n, err := res.RowsAffected()
	if n > 0 {
		s.erased.Store(true)
	}
	return int(n), errors.Join(err, s.shredSoon(ctx))
}

// scan reads one row. Of a record that is too large or damaged it returns the name alone, and ErrTooLarge or ErrDamaged.
func (s *SQLite) scan(row interface{ Scan(dest ...any) error }) (rec Record, err error) {
	var run string
	var key sealed
	var doc []byte
	if err := row.Scan(&run, &rec.Version, &key.text, &key.by, &doc); err != nil {
		return Record{}, err
	}
	if doc == nil {
		return Record{Run: run}, fmt.Errorf("%w: start the service, which makes it smaller", ErrTooLarge)
	}
	if err := json.Unmarshal(doc, &rec); err != nil {
		return Record{Run: run}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	rec.Run = run // also where the document says otherwise
	if rec.SecretKey, err = s.keys.open(run, key); err != nil {
		return Record{Run: run}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if rec.Kind == "" { // from the time before it was noted
		rec.Kind = earlierKind(rec.Request)
	}
	if rec.Resolved != nil {
		rec.Resolve(*rec.Resolved)
	}
	if rec.Owner == "" { // from the time before it was noted
		rec.Owner = ownerOf(rec.SecretKey)
	}
	return rec, nil
}
