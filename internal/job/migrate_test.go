package job_test

import (
	"database/sql"
	"fmt"
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

// schemaUpTo makes the schema of the version that knew these steps, and returns the store and the statements that fill it.
func schemaUpTo(t *testing.T, steps ...string) (path string, exec func(statement string, args ...any)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "jobs.db")
	exec = func(statement string, args ...any) { alter(t, path, statement, args...) }
	for _, name := range steps {
		step, err := os.ReadFile(filepath.Join("schema", name))
		require.NoError(t, err)
		exec(string(step))
	}
	exec(fmt.Sprintf("PRAGMA user_version = %d", len(steps)))
	return path, exec
}

// The dataset and the user of a record were computed by SQLite once, and are columns that the service writes now.
func TestRecordsAreStillFoundByDatasetAndUserAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	path, exec := schemaUpTo(t, "1_jobs.sql", "2_seals.sql", "3_datasets.sql", "4_users.sql")
	put := func(run, record string) {
		exec(`INSERT INTO jobs (run, version, state, active, created, updated, secret, record) VALUES (?, 3, 'staged', 1, 1, 2, '', ?)`, run, []byte(record))
	}
	put("ft-both", `{"run":"ft-both","request":{"dataset_id":"d1","body_hash":"h"},"user":"alice@example.org","state":"staged","attempt":1}`)
	put("ft-none", `{"run":"ft-none","request":{"body_hash":"h"},"state":"staged","attempt":1}`)
	put("ft-bad", `{"run":"ft-bad","request":{"dataset_id":"d1","body_hash":"h"},"state":"staged","attempt":1}`)
	overwrite(t, path, `{"run":"ft-bad"`, `{"run";"ft-bad"`)
	var leftOut []string
	s, err := job.OpenSQLite(t.Context(), path, job.WithLeftOut(func(run string, _ error) { leftOut = append(leftOut, run) }))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	runs := func(q job.Query) (runs []string) {
		recs, err := s.List(t.Context(), q)
		require.NoError(t, err)
		for _, rec := range recs {
			runs = append(runs, rec.Run)
		}
		return runs
	}
	require.Equal(t, []string{"ft-both"}, runs(job.Query{Dataset: "d1"}))
	require.Equal(t, []string{"ft-both"}, runs(job.Query{User: "alice@example.org"}))
	require.Empty(t, leftOut)
	require.Equal(t, []string{"ft-both", "ft-none"}, runs(job.Query{Active: true}))
	require.Equal(t, []string{"ft-bad"}, leftOut, "what cannot be read stays, and is told")

	for _, user := range []string{"bob@example.org", "carol@example.org"} {
		_, err = s.Change(t.Context(), "ft-none", func(r *job.Record) error { r.User = user; return nil })
		require.NoError(t, err)
	}
	require.Equal(t, []string{"ft-none"}, runs(job.Query{User: "carol@example.org"}))
	require.Empty(t, runs(job.Query{User: "bob@example.org"}))
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
	require.ErrorContains(t, err, "newer version of this program (schema 99, known are 5): use that version, or restore the copy of the state folder")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
