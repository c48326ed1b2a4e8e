//go:build integration

package service

import (
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// awaitQueue waits until so many messages wait in the queue of the trainings, with so many consumers.
func awaitQueue(t *testing.T, ch *amqp.Channel, messages, consumers int) {
	t.Helper()
	require.Eventually(t, func() bool {
		q, err := ch.QueueDeclarePassive(stack.Extractor, true, false, false, false, nil)
		require.NoError(t, err)
		return q.Messages == messages && q.Consumers == consumers
	}, stack.StepTimeout, 20*time.Millisecond)
}

func TestJobsBeyondTheSlotsStayInRabbitMQWhereClowderCanCancelThem(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	release := w.HoldTrainings()
	w.Start(t, map[string]string{"MAX_JOBS": "2", "MAX_JOBS_PER_USER": "2"})
	ch := channel(t, w)
	var ids []string
	for range 5 {
		ids = append(ids, w.Submit(t, w.Dataset, nil))
	}
	require.Eventually(t, func() bool { return len(w.Records(t)) == 2 }, stack.StepTimeout, 100*time.Millisecond)
	awaitQueue(t, ch, 3, 0) // none of them is prefetched, or it would not be counted

	// A Clowder v1 cancels a waiting job by reading the queue and putting back all messages but its own.
	cancelled := ids[3]
	var others []amqp.Delivery
	for range 3 {
		d, ok, err := ch.Get(stack.Extractor, false)
		require.NoError(t, err)
		require.True(t, ok)
		if strings.Contains(string(d.Body), cancelled) {
			require.NoError(t, d.Ack(false))
			continue
		}
		others = append(others, d)
	}
	require.Len(t, others, 2)
	for _, d := range others {
		require.NoError(t, d.Nack(false, true))
	}

	release()
	for _, id := range ids {
		if id != cancelled {
			last, _ := w.AwaitJob(t, id)
			require.Equal(t, "SUCCEEDED", last.Status)
		}
	}
	for _, rec := range w.AwaitRecords(t, 4) {
		require.NotEqual(t, cancelled, rec.Request.JobID)
	}
	awaitQueue(t, ch, 0, 1)
}

func TestAUserIsToldThePlaceInTheLine(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	release := w.HoldTrainings()
	w.Start(t, map[string]string{"MAX_RUNNING": "1"})
	first := w.Submit(t, w.Dataset, nil)
	require.Eventually(t, func() bool { return w.Trainings.Load() == 1 }, stack.StepTimeout, 10*time.Millisecond)
	second := w.Submit(t, w.Dataset, nil)
	require.Eventually(t, func() bool {
		updates, err := w.Session.JobUpdates(t.Context(), second)
		require.NoError(t, err)
		return countText(updates, "Waiting for a free slot on Ray: next in the queue") == 1
	}, stack.StepTimeout, 50*time.Millisecond)
	require.EqualValues(t, 1, w.Trainings.Load())
	release()
	for _, id := range []string{first, second} {
		last, _ := w.AwaitJob(t, id)
		require.Equal(t, "SUCCEEDED", last.Status)
	}
}

func TestNoJobIsTakenOntoAFullDisk(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	full := map[string]string{"MIN_FREE_BYTES": "1000000000000000"}
	first := w.Start(t, full)
	id := w.Submit(t, w.Dataset, nil)
	awaitQueue(t, channel(t, w), 1, 0)
	require.Contains(t, ask(t, first.Health()+"/readyz"), "SHARED_DIR: only")
	require.Contains(t, ask(t, first.Health()+"/metrics"), `clowder_ray_disk_free_bytes{folder="STATE_DIR"}`)
	require.Empty(t, w.Records(t))
	require.NoError(t, first.Stop(30*time.Second))
	require.Contains(t, first.Log(), "new jobs are paused")

	w.Start(t, nil)
	last, _ := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", last.Status)
}

func TestUsersKeysAreSealedAtRest(t *testing.T) {
	t.Parallel()
	key := func(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }
	w := stack.NewFixture(t, stack.Program(t), table())
	release := w.HoldTrainings()
	first := w.Start(t, map[string]string{"STATE_KEY": key(1)})
	id := w.Submit(t, w.Dataset, nil)
	require.Eventually(t, func() bool { return w.Trainings.Load() == 1 }, stack.StepTimeout, 10*time.Millisecond)
	files, err := filepath.Glob(filepath.Join(w.Env["STATE_DIR"], "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		body, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NotContains(t, string(body), clowdertest.JobKeyMark, f)
	}
	require.NoError(t, first.Stop(30*time.Second))

	second, err := stack.StartService(t.Context(), stack.Program(t), with(w.Env, "STATE_KEY", key(2)), nil)
	require.NoError(t, err)
	select {
	case <-second.Exited():
	case <-time.After(stack.StepTimeout):
		second.Kill()
		t.Fatalf("it goes on with a key that opens nothing\n%s", second.Log())
	}
	require.Equal(t, 2, second.ExitCode())
	require.Contains(t, second.Log(), "nothing is lost")
	require.NotContains(t, second.Log(), key(2))

	release()
	w.Start(t, map[string]string{"STATE_KEY": key(2) + " " + key(1)})
	last, _ := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", last.Status)
}

func TestATrainingThatNobodyWaitsForIsEnded(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	defer w.HoldTrainings()()
	first := w.Start(t, nil)
	w.Submit(t, w.Dataset, nil)
	require.Eventually(t, func() bool { return len(w.Ray.Jobs()) == 1 }, stack.StepTimeout, 10*time.Millisecond)
	rec := awaitState(t, w, job.Running)
	first.Kill()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(w.Env["STATE_DIR"], "jobs.db"))
	require.NoError(t, err)
	_, err = store.Change(t.Context(), rec.Run, func(r *job.Record) error { r.End(job.Failed, "x"); return r.Close() })
	require.NoError(t, err)
	require.NoError(t, store.Close())

	w.Start(t, nil)
	require.Eventually(t, func() bool { return len(w.Ray.Jobs()) == 0 }, stack.StepTimeout, 10*time.Millisecond)
}

func TestOfARunThatIsOverTheBulkGoes(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	first := w.Start(t, nil)
	last, _ := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status)
	dir := filepath.Join(w.Env["SHARED_DIR"], "runs", w.AwaitRecords(t, 1)[0].Run)
	require.DirExists(t, filepath.Join(dir, "inputs"))
	require.NoError(t, first.Stop(30*time.Second))

	w.Start(t, nil) // sweeps at once
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "inputs"))
		return os.IsNotExist(err)
	}, stack.StepTimeout, 10*time.Millisecond)
	require.FileExists(t, filepath.Join(dir, "result.json"))
	require.FileExists(t, filepath.Join(dir, "inputs.json"))
	last, _ = w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status, "from the cache")
	require.Equal(t, 1, w.Clowder.Requests(http.MethodGet, "/files/"+fileID(t, w)))
}

// fileID is the id of the dataset's one table.
func fileID(t *testing.T, w *stack.Fixture) string {
	t.Helper()
	files, err := w.Session.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	for _, f := range files {
		if f.Path == "train.csv" {
			return f.ID
		}
	}
	t.Fatal("no train.csv")
	return ""
}

// ask returns what is answered at an address.
func ask(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer http.DefaultClient.CloseIdleConnections()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return string(body)
}

// with is env with one more variable.
func with(env map[string]string, key, value string) map[string]string {
	all := maps.Clone(env)
	all[key] = value
	return all
}
