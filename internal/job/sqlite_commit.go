package job

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// commitTimeout bounds one commit, another process that holds the file included.
const commitTimeout = busyTimeout + 5*time.Second

// committer makes writes durable. Writes that come together share one transaction, because a commit costs one write to the disk
// for any number of rows. It has no goroutine: one of the callers commits the writes of all callers that wait at that moment.
// Writes that come in the meantime are the next transaction.
type committer struct {
	db *sql.DB
	// turn holds a token while one of the callers commits.
	turn chan struct{}

	mu      sync.Mutex
	waiting []*write
}

// write is one statement on its way to the disk. Its rows and err may be read once done is closed.
type write struct {
	stmt *sql.Stmt
	args []any
	rows int64
	err  error
	done chan struct{}
}

func newCommitter(db *sql.DB) *committer { return &committer{db: db, turn: make(chan struct{}, 1)} }

// exec returns how many rows the statement has changed, after the change is on disk. If ctx ends before a caller commits the
// write, nothing has happened.
func (c *committer) exec(ctx context.Context, stmt *sql.Stmt, args ...any) (rows int64, err error) {
	w := &write{stmt: stmt, args: args, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, w)
	c.mu.Unlock()
	select {
	case <-w.done:
	case c.turn <- struct{}{}:
		c.commit(context.WithoutCancel(ctx), c.take())
		<-c.turn
	case <-ctx.Done():
		if c.withdraw(w) {
			return 0, ctx.Err()
		}
	}
	<-w.done
	return w.rows, w.err
}

// take returns all waiting writes.
func (c *committer) take() []*write {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiting
	c.waiting = nil
	return all
}

// withdraw removes the write if it still waits, and reports whether it did.
func (c *committer) withdraw(w *write) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.waiting {
		if other == w {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// commit makes the writes durable. If they fail together, each one is tried alone, so that a bad write does not affect the others.
func (c *committer) commit(ctx context.Context, writes []*write) {
	err := c.transact(ctx, writes)
	if err != nil && len(writes) > 1 {
		for _, w := range writes {
			c.commit(ctx, []*write{w})
		}
		return
	}
	for _, w := range writes {
		w.err = err
		close(w.done)
	}
}

func (c *committer) transact(ctx context.Context, writes []*write) (err error) {
	if len(writes) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, w := range writes {
		res, err := tx.StmtContext(ctx, w.stmt).ExecContext(ctx, w.args...)
		if err == nil {
			w.rows, err = res.RowsAffected()
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}
