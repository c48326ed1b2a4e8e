package stack

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Restore puts a folder of test/stored into the folders of the service, which must not run: jobs.sql as its job store, and shared. names
// exchanges the names of the Clowder, its datasets and its jobs. Files of which a hash is kept stay as they are.
func (w *Fixture) Restore(tb testing.TB, folder string, names *strings.Replacer) {
	tb.Helper()
	stored := filepath.Join(Root(), "test", "stored", folder)
	script, err := os.ReadFile(filepath.Join(stored, "jobs.sql"))
	require.NoError(tb, err)
	require.NoError(tb, os.MkdirAll(w.Env["STATE_DIR"], 0o700))
	w.AlterStore(tb, names.Replace(string(script)))

	shared := os.DirFS(filepath.Join(stored, "shared"))
	require.NoError(tb, fs.WalkDir(shared, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(shared, name)
		if err != nil {
			return err
		}
		if hashed := strings.Contains(name, "/out/") || strings.Contains(name, "/model/") || strings.Contains(name, "/checkpoints/"); !hashed {
			body = []byte(names.Replace(string(body)))
		}
		to := filepath.Join(w.Env["SHARED_DIR"], names.Replace(name))
		require.NoError(tb, os.MkdirAll(filepath.Dir(to), 0o750))
		return os.WriteFile(to, body, 0o600)
	}))
}

// AlterStore runs SQL on the job store of the service, which must not run. The store is made if it is missing.
func (w *Fixture) AlterStore(tb testing.TB, script string) {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.Env["STATE_DIR"], "jobs.db"))
	require.NoError(tb, err)
	_, err = db.ExecContext(tb.Context(), script)
	require.NoError(tb, err)
	require.NoError(tb, db.Close())
}
