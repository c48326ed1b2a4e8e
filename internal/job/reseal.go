package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// checkSeals checks that all users' keys in the store can be opened.
func (s *SQLite) checkSeals(ctx context.Context) error {
	sealers, err := s.sealers(ctx)
	if err != nil {
		return err
	}
	for _, id := range sealers {
		if !s.keys.has(id) {
			return errMissingKey(id)
		}
	}
	return nil
}

// Reseal seals with the first state key what another one has sealed, or none. After a nil return the other ones are no longer
// needed. It is for the service itself: another process that does it may have other state keys than the service.
func (s *SQLite) Reseal(ctx context.Context) error {
	sealers, err := s.sealers(ctx)
	first := s.keys.sealer()
	if err != nil || !slices.ContainsFunc(sealers, func(id string) bool { return id != first }) {
		return err
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("seal the job store: %w", err)
	}
	if err := s.resealAll(ctx, tx, first); err != nil {
		return errors.Join(fmt.Errorf("seal the job store: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("seal the job store: %w", err)
	}
	s.erased.Store(true)
	return s.shredSoon(ctx)
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
	found := map[string]sealed{}
	for rows.Next() {
		var run string
		var old sealed
		if err := rows.Scan(&run, &old.text, &old.by); err != nil {
			return err
		}
		key, err := s.keys.open(run, old)
		if err != nil {
			return err
		}
		found[run] = s.keys.seal(run, key)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for run, key := range found {
		if _, err := tx.ExecContext(ctx, "UPDATE jobs SET secret = ?, sealed_by = ? WHERE run = ?", key.text, key.by, run); err != nil {
			return err
		}
	}
	return nil
}
