package job

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// numbers is a store of small numbers and the statement that adds one.
func numbers(t *testing.T) (c *committer, add *sql.Stmt, count func() int) {
	t.Helper()
	db, err := open(filepath.Join(t.TempDir(), "numbers.db"), "immediate", 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "CREATE TABLE numbers (n INTEGER CHECK (n < 100))")
	require.NoError(t, err)
	add, err = db.PrepareContext(t.Context(), "INSERT INTO numbers VALUES (?)")
	require.NoError(t, err)
	return newCommitter(db), add, func() (n int) {
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM numbers").Scan(&n))
		return n
	}
}

// awaitWaiting returns when n writes wait for their turn.
func awaitWaiting(t *testing.T, c *committer, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.waiting) == n
	}, 10*time.Second, time.Millisecond)
}

func TestABadWriteHarmsNoneOfThoseThatCameWithIt(t *testing.T) {
	t.Parallel()
	c, add, count := numbers(t)
	const writers, bad = 50, 7
	var all sync.WaitGroup
	errs := make([]error, writers)
	c.turn <- struct{}{} // somebody commits while the others come
	for i := range writers {
		all.Go(func() {
			n := i
			if i == bad {
				n = 100
			}
			_, errs[i] = c.exec(t.Context(), add, n)
		})
	}
	awaitWaiting(t, c, writers)
	<-c.turn
	all.Wait()
	for i, err := range errs {
		if i == bad {
			require.ErrorContains(t, err, "CHECK")
		} else {
			require.NoError(t, err)
		}
	}
	require.Equal(t, writers-1, count())
}

func TestAWriteWhoseCallerGaveUpBeforeItsTurnDidNotHappen(t *testing.T) {
	t.Parallel()
	c, add, count := numbers(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	c.turn <- struct{}{}
	go func() {
		_, err := c.exec(ctx, add, 1)
		gone <- err
	}()
	awaitWaiting(t, c, 1)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	<-c.turn
	n, err := c.exec(t.Context(), add, 2)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.Equal(t, 1, count())
}
