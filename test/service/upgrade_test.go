//go:build integration

package service

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/test/stack"
)

// What the stored state names. The Clowder and the keys of a test are others, and so are the ids of its dataset and jobs.
const (
	storedClowder = "http://clowder.invalid"
	storedDataset = "6b03642083d3a80154359125"
	storedEmpty   = "6b036420b524c20b7ad2932c"
	storedModels  = "ebd23321-" + storedDataset // the folder of the registry
	storedKey     = "the-key-of-alice"
	storedReplies = "clowder.49353e6443" // the queue of statuses
	storedRunning = "6b0364270e9dc15e1eec7022"
	storedWaiting = "6b0364279adb1e2482a9d599"
)

// An upgrade is a stop of the old version and a start of the new one on the same two folders.
func TestAnUpgradeGoesOnWithWhatTheVersionBeforeLeft(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	running := w.Clowder.AddJob(stack.User, w.Dataset, stack.Extractor)
	waiting := w.Clowder.AddJob(stack.User, w.Dataset, stack.Extractor)
	restore(t, w, "service", strings.NewReplacer(
		storedModels, registry.Dataset{Clowder: w.Clowder.URL, ID: w.Dataset}.Folder(),
		storedClowder, w.Clowder.URL, storedDataset, w.Dataset, storedEmpty, w.Clowder.AddDataset(stack.User, "Empty"),
		storedKey, w.Clowder.Key(stack.User), storedReplies, w.Clowder.ReplyQueue(),
		storedRunning, running, storedWaiting, waiting,
	))
	w.Start(t, nil)
	for _, id := range []string{running, waiting} {
		last, updates := w.AwaitJob(t, id)
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	}
	states := map[job.State]int{}
	for _, r := range w.AwaitRecords(t, 6) {
		states[r.State]++
		require.NotEmpty(t, r.Request.Extractor)
	}
	require.Equal(t, map[job.State]int{job.Done: 5, job.Failed: 1}, states)

	compared, updates := manage(t, w, map[string]any{"action": "models"})
	require.Contains(t, compared.Message, "champion: reviews/1", "%v", updates)
	predicted, updates := w.AwaitJob(t, w.SubmitTo(t, stack.Predictor, w.Dataset, map[string]any{"model": "reviews@champion"}))
	require.Equal(t, "SUCCEEDED", predicted.Status, "%v", updates)
	require.Contains(t, fmt.Sprint(updates), "Predicting with model reviews/1")
	listed, updates := manage(t, w, map[string]any{"action": "list"})
	require.Equal(t, "SUCCEEDED", listed.Status, "%v", updates)
	require.Contains(t, fmt.Sprint(updates), "ft-4jtgdq4t")
}

// restore puts a folder of test/stored into the folders of w: jobs.sql and shared. The names are those of this test's Clowder. Files with a hash
// stay as they are.
func restore(t *testing.T, w *stack.Fixture, folder string, names *strings.Replacer) {
	t.Helper()
	stored := filepath.Join(stack.Root(), "test", "stored", folder)
	script, err := os.ReadFile(filepath.Join(stored, "jobs.sql"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(w.Env["STATE_DIR"], 0o700))
	alter(t, w, names.Replace(string(script)))

	shared := os.DirFS(filepath.Join(stored, "shared"))
	require.NoError(t, fs.WalkDir(shared, ".", func(name string, d fs.DirEntry, err error) error {
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
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		return os.WriteFile(to, body, 0o644)
	}))
}

// alter runs SQL on the job store while no service has it open.
func alter(t *testing.T, w *stack.Fixture, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.Env["STATE_DIR"], "jobs.db"))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), script)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}
