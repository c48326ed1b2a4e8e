//go:build integration

package e2e

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/stack"
)

// stepOfCheckpoint is the step of the checkpoint behind which v0.1.0 was killed.
const stepOfCheckpoint = 12

// What v0.1.0 left when it was killed: two trainings with their models, a prediction, a job that failed, a training in its first epochs and a job that
// waits for it. The trainer is the real one, in a process without Ray.
func TestAnUpgradeFromV010KeepsJobsAndModels(t *testing.T) {
	stored := filepath.Join(stack.Root(), "test", "stored", "v0.1.0")
	var was struct{ Clowder, Key, Replies, Dataset, Rows, Empty, Running, Waiting, Models string }
	decode(t, filepath.Join(stored, "names.json"), &was)
	var champion struct{ Version int }
	decode(t, filepath.Join(stored, "shared", "registry", was.Models, "flowers", "champion.json"), &champion)
	predictions, err := filepath.Glob(filepath.Join(stored, "shared", "runs", "*", "inputs", "rows.csv"))
	require.NoError(t, err)
	require.Len(t, predictions, 1, "runs of a prediction")
	rows, err := os.ReadFile(predictions[0])
	require.NoError(t, err)

	w := stack.NewFixture(t, stack.Program(t), map[string]string{"flowers.csv": string(rows)})
	w.Env["RAY_PYTHON"] = raytest.Python(t)
	w.PlayTrainings(trainWithoutRay)
	dataset := w.Clowder.AddDataset(stack.User, "Rows")
	_, err = w.Clowder.AddFile(dataset, "rows.csv", strings.NewReader(string(rows)))
	require.NoError(t, err)
	running, waiting := w.Clowder.AddJob(stack.User, w.Dataset, stack.Extractor), w.Clowder.AddJob(stack.User, w.Dataset, stack.Advanced)
	w.Restore(t, "v0.1.0", strings.NewReplacer(
		was.Models, registry.Dataset{Clowder: w.Clowder.URL, ID: w.Dataset}.Folder(),
		was.Clowder, w.Clowder.URL, was.Dataset, w.Dataset, was.Rows, dataset, was.Empty, w.Clowder.AddDataset(stack.User, "Empty"),
		was.Key, w.Clowder.Key(stack.User), was.Replies, w.Clowder.ReplyQueue(), was.Running, running, was.Waiting, waiting,
	))
	service := w.Start(t, nil)
	for _, id := range []string{running, waiting} {
		last, updates := w.AwaitJob(t, id)
		require.Equal(t, "SUCCEEDED", last.Status, "%v\n%s", updates, service.Log())
	}
	records := w.AwaitRecords(t, 6)
	listed, updates := w.AwaitJob(t, w.SubmitTo(t, stack.Manager, w.Dataset, map[string]any{"action": "list"}))
	require.Equal(t, "SUCCEEDED", listed.Status, "%v", updates)
	states := map[job.State]int{}
	for _, r := range records {
		states[r.State]++
		if r.Request.DatasetID == w.Dataset {
			require.Contains(t, fmt.Sprint(updates), r.Run[:len("ft-")+8], "a job of v0.1.0 is listed")
		}
		if r.Request.JobID == running {
			requireWentOn(t, disk.Folder{Volume: filepath.Join(w.Env["SHARED_DIR"], "runs"), Name: r.Run}, r)
		}
	}
	require.Equal(t, map[job.State]int{job.Done: 5, job.Failed: 1}, states)

	model := fmt.Sprintf("flowers/%d", champion.Version)
	predicted, updates := w.AwaitJob(t, w.SubmitTo(t, stack.Predictor, dataset, map[string]any{"model": model}))
	require.Equal(t, "SUCCEEDED", predicted.Status, "%v\n%s", updates, service.Log())
	old, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(predictions[0])), "out", "predictions.csv"))
	require.NoError(t, err)
	requireSameAnswers(t, string(old), delivered(t, w, dataset, "predictions.csv"))

	require.NoError(t, service.Stop(stack.StepTimeout))
	requireANewerStoreIsLeftAlone(t, w)
}

// trainWithoutRay runs the training program in a process of its own.
func trainWithoutRay(ctx context.Context, _ string, d raytest.Driver) int {
	words := strings.Fields(d.Entrypoint)
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], "--launcher", "local")...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	for name, value := range d.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = d.Output, d.Output
	if err := cmd.Run(); err != nil {
		return 1
	}
	return 0
}

// requireWentOn checks that the second attempt of a training has begun behind a checkpoint of the first.
func requireWentOn(t *testing.T, folder disk.Folder, r job.Record) {
	t.Helper()
	require.Equal(t, 2, r.Attempt)
	result, failure, err := results.Read(folder, r.Run, r.Attempt)
	require.NoError(t, err)
	require.Nil(t, failure)
	require.Equal(t, 1, result.Training.Resumed)
	events, err := results.ReadEvents(folder)
	require.NoError(t, err)
	evaluated := map[int]int{}
	for _, e := range events {
		if e.Kind == results.KindEval && e.Split == "validation" {
			require.Zero(t, evaluated[e.Step], "step %d was evaluated by attempt %d", e.Step, evaluated[e.Step])
			evaluated[e.Step] = e.Attempt
		}
	}
	require.Equal(t, 1, evaluated[stepOfCheckpoint])
	require.Equal(t, 2, evaluated[result.Training.Steps])
}

// requireSameAnswers compares the answers of two tables of predictions of the same rows.
func requireSameAnswers(t *testing.T, before, after string) {
	t.Helper()
	answers := func(table string) (found []string) {
		rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		require.NoError(t, err)
		row, predicted, confidence := slices.Index(rows[0], "row"), slices.Index(rows[0], "predicted"), slices.Index(rows[0], "confidence")
		for _, cells := range rows[1:] {
			found = append(found, strings.Join([]string{cells[row], cells[predicted], cells[confidence]}, " "))
		}
		return found
	}
	require.Len(t, answers(before), 60)
	require.Equal(t, answers(before), answers(after))
}

// delivered is the text of a file that was added to a dataset.
func delivered(t *testing.T, w *stack.Fixture, dataset, name string) string {
	t.Helper()
	files, err := w.Session.Files(t.Context(), dataset)
	require.NoError(t, err)
	for _, f := range files {
		if path.Base(f.Path) == name {
			body, err := w.Clowder.ReadFile(f.ID)
			require.NoError(t, err)
			return string(body)
		}
	}
	require.Fail(t, "the dataset has no "+name)
	return ""
}

// requireANewerStoreIsLeftAlone starts the service on a store whose schema it does not know, as after a way back: it ends, says what to do, and has
// changed nothing.
func requireANewerStoreIsLeftAlone(t *testing.T, w *stack.Fixture) {
	t.Helper()
	w.AlterStore(t, "PRAGMA user_version = 99")
	before := volume(t, w)
	s, err := stack.StartService(t.Context(), stack.Program(t), w.Env, nil)
	require.NoError(t, err)
	defer s.Kill()
	select {
	case <-s.Exited():
	case <-time.After(stack.StepTimeout):
		t.Fatalf("it is still running\n%s", s.Log())
	}
	require.NotZero(t, s.ExitCode())
	lines := strings.Split(strings.TrimSpace(s.Log()), "\n")
	require.Contains(t, lines[len(lines)-1], "it was changed by a newer version of this program (schema 99, known are 5): use that version, or restore the copy")
	require.Equal(t, before, volume(t, w), "files on the shared volume")
}

// volume lists the runs and models on the shared volume with the times of their last change.
func volume(t *testing.T, w *stack.Fixture) (files []string) {
	t.Helper()
	for _, folder := range []string{"runs", "registry"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(w.Env["SHARED_DIR"], folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			files = append(files, fmt.Sprint(name, info.ModTime()))
			return err
		}))
	}
	return files
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	doc, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(doc, into))
}
