package job

import (
	"context"
	"database/sql"
	"slices"
)

// reseal seals with the first state key what another one has sealed, or none. A store without a keyring is only looked at:
// what was sealed once cannot be read without its state key.
func (s *SQLite) reseal(ctx context.Context) error {
	sealers, err := s.sealers(ctx)
	if err != nil {
		return err
	}
	for _, id := range sealers {
		if !s.keys.has(id) {
			return errMissingKey(id)
		}
	}
	first := s.keys.sealer()
	if !slices.ContainsFunc(sealers, func(id string) bool { return id != first }) {
		return nil
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := s.resealAll(ctx, tx, first); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return s.shred(ctx)
}

// sealers are the ids of the state keys that have sealed something in the store; "" stands for what is not sealed.
func (s *SQLite) sealers(ctx context.Context) (ids []string, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT DISTINCT sealed_by FROM jobs WHERE secret <> ''")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// resealAll changes only the seals: to other processes the records stay the same version.
func (s *SQLite) resealAll(ctx context.Context, tx *sql.Tx, first string) error {
	rows, err := tx.QueryContext(ctx, "SELECT run, secret, sealed_by FROM jobs WHERE secret <> '' AND sealed_by <> ?", first)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	type row struct{ run, secret string }
	var sealed []row
	for rows.Next() {
		var r row
		var id string
		if err := rows.Scan(&r.run, &r.secret, &id); err != nil {
			return err
		}
		key, err := s.keys.open(r.run, r.secret, id)
		if err != nil {
			return err
		}
		r.secret, _ = s.keys.seal(r.run, key)
		sealed = append(sealed, r)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, r := range sealed {
		if _, err := tx.ExecContext(ctx, "UPDATE jobs SET secret = ?, sealed_by = ? WHERE run = ?", r.secret, first, r.run); err != nil {
			return err
		}
	}
	return nil
}

// shred empties the write-ahead log, in which erased keys may still stand. While others read it stays as it is until the
// next time.
func (s *SQLite) shred(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
