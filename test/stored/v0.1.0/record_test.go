//go:build record

// Package record makes the stored data of v0.1.0. It is compiled with the code of v0.1.0 only: record.sh copies it there.
package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestMain(m *testing.M) { os.Exit(broker.Main(m).Run()) }

const patience = 5 * time.Minute

// TestRecord has v0.1.0 do two trainings, a prediction and a job that fails, and kills it while another training runs and one waits for its place.
// RECORD_OUT gets its folders and the names that a test has to exchange.
func TestRecord(t *testing.T) {
	flowers, err := os.ReadFile(filepath.Join(stack.Root(), "test", "stored", "runs", "ft-done", "inputs", "flowers.csv"))
	require.NoError(t, err)
	w := stack.NewFixture(t, stack.Program(t), map[string]string{"flowers.csv": string(flowers)})
	out := os.Getenv("RECORD_OUT")
	python := raytest.Python(t)
	ray, err := raylocal.Start(t.Context(), raylocal.Config{Python: python, Dir: t.TempDir()})
	require.NoError(t, err)
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			require.NoError(t, ray.Stop())
		}
	})
	w.Env["RAY_ADDRESS"], w.Env["RAY_AUTH_TOKEN_PATH"], w.Env["RAY_PYTHON"] = ray.Address, ray.TokenFile, python
	w.Env["SHARED_DIR"], w.Env["STATE_DIR"] = filepath.Join(out, "shared"), filepath.Join(out, "state")
	w.Env["MAX_RUNNING"] = "1"
	service := w.Start(t, nil)

	done := func(id, status string) {
		last, _ := w.AwaitJob(t, id)
		require.Equal(t, status, last.Status, "%s\n%s", last.Message, service.Log())
	}
	for _, epochs := range []int{8, 4} {
		done(w.Submit(t, w.Dataset, map[string]any{"epochs": epochs, "more_options": "register_as: flowers"}), "SUCCEEDED")
	}
	rows := w.Clowder.AddDataset(stack.User, "Rows")
	_, err = w.Clowder.AddFile(rows, "rows.csv", strings.NewReader(string(flowers)))
	require.NoError(t, err)
	done(w.SubmitTo(t, stack.Predictor, rows, map[string]any{"model": "flowers@champion"}), "SUCCEEDED")
	empty := w.Clowder.AddDataset(stack.User, "Empty")
	done(w.Submit(t, empty, nil), "ERROR")

	running := w.Submit(t, w.Dataset, map[string]any{"epochs": 60, "batch_size": 4, "more_options": "early_stopping_patience: 0\nregister_as: longer"})
	state := func(id string) (found job.Record) {
		for _, r := range w.Records(t) {
			if r.Request.JobID == id {
				found = r
			}
		}
		return found
	}
	require.Eventually(t, func() bool { return state(running).State == job.Running }, patience, 20*time.Millisecond)
	waiting := w.SubmitTo(t, stack.Advanced, w.Dataset, map[string]any{"epochs": 2, "output": map[string]any{"register_as": "flowers"}})
	index := filepath.Join(w.Env["SHARED_DIR"], "runs", state(running).Run, "checkpoints", "index.json")
	require.Eventually(t, func() bool {
		_, err := os.Stat(index)
		return err == nil && state(waiting).State == job.Staged
	}, patience, 20*time.Millisecond)
	service.Kill()
	require.NoError(t, ray.Stop())
	stopped = true
	require.Equal(t, job.Running, state(running).State)
	require.Equal(t, job.Staged, state(waiting).State)

	names, err := json.MarshalIndent(map[string]string{
		"clowder": w.Clowder.URL, "key": state(running).SecretKey.Reveal(), "replies": w.Clowder.ReplyQueue(),
		"dataset": w.Dataset, "rows": rows, "empty": empty, "running": running, "waiting": waiting,
		"models": registry.Dataset{Clowder: w.Clowder.URL, ID: w.Dataset}.Folder(),
	}, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(out, "names.json"), append(names, '\n'), 0o600))
}
