package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// shredWait is how long Shred waits for readers of the store. Meanwhile, the jobs of this process cannot write.
const shredWait = 200 * time.Millisecond

var errStillRead = errors.New("the log of the job store may still hold erased keys, because it is being read: it is emptied at the next look")

// Shred implements Store.
func (s *SQLite) Shred(ctx context.Context) error {
	// A key that is erased from here on needs another call of Shred, even if this one removes it.
	if !s.erased.Swap(false) && s.looked.Load() {
		return nil
	}
	if err := s.truncateLog(ctx); err != nil {
		s.erased.Store(true)
		return err
	}
	s.looked.Store(true)
	return nil
}

// shredSoon is Shred without a wait. If the log cannot be emptied now, a later Shred does it.
func (s *SQLite) shredSoon(ctx context.Context) error {
	if err := s.Shred(ctx); !errors.Is(err, errStillRead) {
		return err
	}
	return nil
}

// truncateLog moves the write-ahead log into the file, which overwrites erased keys, and empties the log.
func (s *SQLite) truncateLog(ctx context.Context) (err error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("empty the log of the job store: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := waitAtMost(ctx, conn, shredWait); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, waitAtMost(context.WithoutCancel(ctx), conn, busyTimeout)) }()
	// SQLite reports other readers in the row and not as an error.
	var busy, pages, moved int
	if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return fmt.Errorf("empty the log of the job store: %w", err)
	}
	if busy != 0 {
		return errStillRead
	}
	return nil
}

// waitAtMost sets how long a connection waits for others.
func waitAtMost(ctx context.Context, conn *sql.Conn, d time.Duration) error {
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds())); err != nil {
		return fmt.Errorf("set the wait of the job store: %w", err)
	}
	return nil
}
