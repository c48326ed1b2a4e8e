//go:build integration

package service

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

// manage submits the dataset to the extractor that manages runs, and waits for its answer.
func manage(t *testing.T, w *stack.Fixture, parameters map[string]any) (clowder.Job, []clowder.JobUpdate) {
	t.Helper()
	return w.AwaitJob(t, w.SubmitTo(t, stack.Manager, w.Dataset, parameters))
}

// awaitState waits until the service has a training in a state.
func awaitState(t *testing.T, w *stack.Fixture, state job.State) job.Record {
	t.Helper()
	var rec job.Record
	require.Eventually(t, func() bool {
		for _, rec = range w.Records(t) {
			if rec.State == state && rec.Request.Extractor == stack.Extractor {
				return true
			}
		}
		return false
	}, stack.StepTimeout, 100*time.Millisecond, state)
	return rec
}

func TestADownloadIsCancelledThroughClowderAndRetried(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, map[string]string{"MAX_JOBS": "1"})
	w.Clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/files/", Hang: true})
	id := w.Submit(t, w.Dataset, nil)
	require.Eventually(t, func() bool { return w.Clowder.Requests(http.MethodGet, "/files/") > 0 }, stack.StepTimeout, 10*time.Millisecond)

	began := time.Now()
	last, _ := manage(t, w, map[string]any{"action": "cancel"})
	require.Equal(t, "SUCCEEDED", last.Status, last.Message)
	require.Contains(t, last.Message, "was cancelled")
	require.Less(t, time.Since(began), 30*time.Second, "neither the download nor the full slot keeps it waiting")
	cancelled, _ := w.AwaitJob(t, id)
	require.Equal(t, "ERROR", cancelled.Status)
	require.Contains(t, cancelled.Message, "Cancelled by "+stack.User)

	w.Clowder.ClearFaults()
	retried, updates := manage(t, w, map[string]any{"action": "retry"})
	require.Equal(t, "SUCCEEDED", retried.Status, "%v", updates)
	require.Contains(t, retried.Message, "Results in folder finetune/", "the retried run is seen in the job that asked for it")
	require.EqualValues(t, 1, w.Trainings.Load())

	listed, updates := manage(t, w, nil)
	require.Equal(t, "1 run in this dataset: 1 done", listed.Message)
	require.Contains(t, updates[1].Text, "Training ft-")
}

func TestATrainingIsStoppedThroughClowderAndKept(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	release := w.HoldTrainings()
	w.Start(t, nil)
	id := w.Submit(t, w.Dataset, nil)
	rec := awaitState(t, w, job.Running)
	last, _ := manage(t, w, map[string]any{"action": "stop and keep", "run": rec.Run})
	require.Equal(t, "SUCCEEDED", last.Status, last.Message)
	require.Eventually(t, func() bool {
		told, err := os.ReadFile(filepath.Join(w.Env["SHARED_DIR"], "runs", rec.Run, "stop"))
		return err == nil && strings.TrimSpace(string(told)) == "keep"
	}, stack.StepTimeout, 20*time.Millisecond)
	release()
	done, updates := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", done.Status, "%v", updates)
	require.Contains(t, done.Message, "Stopped early by "+stack.User+". Accuracy 0.900")
}

func TestModelsAreComparedAndPromotedThroughClowder(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, nil)
	for range 2 {
		last, updates := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	}
	compared, updates := manage(t, w, map[string]any{"action": "models"})
	require.Equal(t, "2 versions in this dataset; champion: reviews/1", compared.Message, "%v", updates)
	promoted, _ := manage(t, w, map[string]any{"action": "promote", "run": "reviews/2"})
	require.Equal(t, "SUCCEEDED", promoted.Status)
	require.Contains(t, promoted.Message, "Reviews/2 is now the champion")

	notes, err := w.Session.Metadata(t.Context(), w.Dataset)
	require.NoError(t, err)
	champions := map[string][]any{}
	for _, n := range notes {
		champions[n.Listener] = append(champions[n.Listener], n.Content["champion"])
	}
	require.Equal(t, map[string][]any{stack.Extractor: {"reviews/1", "reviews/1"}, stack.Manager: {"reviews/2"}}, champions)

	_, updates = w.AwaitJob(t, w.SubmitTo(t, stack.Predictor, w.Dataset, map[string]any{"model": "reviews@champion"}))
	require.Contains(t, fmt.Sprint(updates), "Predicting with model reviews/2")
}

func TestAModelIsExportedIntoAnotherDataset(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, nil)
	last, updates := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)

	other := w.Clowder.AddDataset(stack.User, "Others")
	exported, updates := w.AwaitJob(t, w.SubmitTo(t, stack.Manager, other, map[string]any{"action": "export", "run": "reviews/1"}))
	require.Equal(t, "SUCCEEDED", exported.Status, "%v", updates)
	require.Contains(t, exported.Message, "The model reviews/1")

	files, err := w.Session.Files(t.Context(), other)
	require.NoError(t, err)
	var models []clowder.File
	for _, f := range files {
		if f.Name == "model.zip" {
			models = append(models, f)
		}
	}
	require.Len(t, models, 1)
	require.Regexp(t, `^finetune/[0-9-]+-export-reviews-1-`, models[0].Path)
	notes, err := w.Session.Metadata(t.Context(), other)
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.Equal(t, models[0].ID, notes[0].Content["model_file_id"])
}

func TestAJobThatTheBrokerLostIsRecovered(t *testing.T) {
	t.Parallel()
	node := broker.Own(t)
	w := stack.NewFixtureOn(t, stack.Program(t), node.Vhost(t), table())
	release := w.HoldTrainings()
	w.Start(t, map[string]string{"MAX_JOBS": "1", "RECOVER_EVERY": "2s"})
	first := w.Submit(t, w.Dataset, nil)
	awaitState(t, w, job.Running)
	second := w.Submit(t, w.Dataset, map[string]any{"seed": 7}) // waits in RabbitMQ, since the only slot is taken
	require.NoError(t, node.Restart(t.Context()))

	ch := channel(t, w)
	require.Eventually(t, func() bool {
		q, err := ch.QueueDeclarePassive(stack.Extractor, true, false, false, false, nil)
		return err == nil && q.Messages == 1
	}, stack.StepTimeout, 50*time.Millisecond, "the message is written again")
	release()
	for _, id := range []string{first, second} {
		last, updates := w.AwaitJob(t, id)
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	}
	records := w.AwaitRecords(t, 2)
	require.EqualValues(t, 7, records[1].Settings.Values["seed"], "with the settings of its user")
	require.EqualValues(t, 2, w.Trainings.Load())
}
