package job

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

// The schema is a list of steps. A store remembers how many of them it has seen and is brought up to date when it is opened;
// the first step also works on stores from before the steps were counted.
//
//go:embed schema/*.sql
var schema embed.FS

// migrate brings the store up to date. A store that a newer version has changed is refused, untouched.
func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := fs.Glob(schema, "schema/*.sql") // in order of their names
	if err != nil {
		return err
	}
	// Most opens find nothing to do and must not wait for the writers.
	seen, err := schemaVersion(ctx, db)
	if err != nil || seen == len(steps) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if seen, err = schemaVersion(ctx, tx); err != nil {
		return err
	}
	if seen > len(steps) {
		return Permanent(fmt.Errorf("it was changed by a newer version of this program (schema %d, known are %d): use that version, or restore the copy "+
			"of the state folder from before the upgrade", seen, len(steps)))
	}
	for _, name := range steps[seen:] {
		step, err := schema.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(step)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps))); err != nil {
		return err
	}
	return tx.Commit()
}

func schemaVersion(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (n int, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&n)
	return n, err
}
