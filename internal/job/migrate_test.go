package job_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// oldStore makes a store as the first version of this program did, with one record in it.
func oldStore(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "jobs.db")
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	first, err := os.ReadFile("schema/1_jobs.sql")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), string(first))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `INSERT INTO jobs VALUES ('ft-one', 3, 'staged', 1, 1, 2, ?, ?)`, canary,
		[]byte(`{"run":"ft-one","request":{"key":"k","api_version":2,"kind":"dataset","resource_id":"d","body_hash":"h1"},"state":"staged","attempt":1}`))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return path
}

func TestAStoreOfAnOlderVersionGoesOn(t *testing.T) {
	t.Parallel()
	path := oldStore(t)
	s := openStore(t, path)
	rec, err := s.Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, job.Staged, rec.State)
	require.Equal(t, canary, rec.SecretKey.Reveal())
	require.NotEmpty(t, rec.Owner, "it is known by its key")
	_, err = s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.Advance(job.Submitted); return nil })
	require.NoError(t, err)

	again := openStore(t, path)
	require.NotEmpty(t, s.ID())
	require.Equal(t, s.ID(), again.ID(), "the store keeps its id")
	require.NotEqual(t, s.ID(), openStore(t, oldStore(t)).ID())
}

func TestAStoreOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := oldStore(t)
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "PRAGMA user_version = 99")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = job.OpenSQLite(t.Context(), path)
	require.ErrorContains(t, err, "newer version")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
