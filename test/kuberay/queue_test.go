//go:build kuberay

package kuberay

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

// queue has Kueue hold a second run until the first has ended, and take the machines of the first for an urgent one: the first goes on
// from its checkpoint. Each user reads what happens to the own run.
func (w *fixture) queue(t *testing.T) {
	t.Helper()
	w.makeQueue(t)
	short := map[string]any{"model": "bert-tiny", "num_workers": 2, "epochs": 1}
	long := map[string]any{"model": "bert-tiny", "num_workers": 2, "epochs": 200, "more_options": "early_stopping_patience: 0"}
	began := time.Now()

	first := w.submit(t, long, "queued")
	preempted := w.evaluated(t, 2)
	second := w.submit(t, short, "queued")
	w.reads(t, second, `Waiting in the queue "lab" at position 1: the free quota of the queue is short by`)
	urgent := w.submit(t, short, "urgent")
	w.reads(t, first, `Waiting in the queue "lab" at position 1: a job of higher priority has its place; it will go on from its last checkpoint`)

	folder := disk.Folder{Volume: filepath.Join(w.shared, "runs", preempted)}
	succeeds := func(id string) {
		last := w.await(t, id)
		require.Equal(t, "SUCCEEDED", last.Status, last.Message)
		t.Logf("after %s: %s", time.Since(began).Round(time.Second), last.Message)
	}
	succeeds(urgent)
	require.Eventually(t, func() bool {
		events, err := results.ReadEvents(folder)
		return err == nil && slices.ContainsFunc(events, func(e results.Event) bool { return e.Kind == results.KindResume })
	}, testTimeout, 200*time.Millisecond, "the first run goes on")
	require.NoError(t, os.WriteFile(filepath.Join(folder.Volume, "stop"), []byte("keep"), 0o644)) // as the service writes it: the rest proves nothing
	succeeds(first)
	succeeds(second)
	result, failure, err := results.Read(folder, preempted, 1)
	require.NoError(t, err)
	require.Nil(t, failure)
	require.Positive(t, result.Training.Resumed, "it went on from a checkpoint")
	require.Equal(t, 1, result.Attempt, "within one attempt")
	updates, err := w.session.JobUpdates(t.Context(), first)
	require.NoError(t, err)
	for _, u := range updates {
		t.Log(u.At.Format(time.TimeOnly), u.Text)
	}
	w.requireNoPods(t)
}

// submit submits a new dataset under a profile, and returns the id of the job.
func (w *fixture) submit(t *testing.T, parameters map[string]any, profile string) string {
	t.Helper()
	parameters["profile"] = profile
	id, err := w.session.Submit(t.Context(), w.dataset(t), extractor, parameters)
	require.NoError(t, err)
	return id
}

// reads waits until the log of a job in Clowder has these words.
func (w *fixture) reads(t *testing.T, job, words string) {
	t.Helper()
	require.Eventually(t, func() bool {
		updates, err := w.session.JobUpdates(t.Context(), job)
		require.NoError(t, err)
		for _, u := range updates {
			if strings.Contains(u.Text, words) {
				return true
			}
		}
		return false
	}, testTimeout, 200*time.Millisecond, words)
}

// makeQueue makes the queue "lab" and a priority class, which go after the test.
func (w *fixture) makeQueue(t *testing.T) {
	t.Helper()
	doc, err := os.ReadFile("queue.yaml")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(doc), "NAMESPACE", w.namespace)
	kubectl := func(verb ...string) {
		command := exec.Command("kubectl", append(verb, "--filename", "-")...)
		command.Stdin = strings.NewReader(text)
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	t.Cleanup(func() { kubectl("delete", "--ignore-not-found", "--wait=false") })
	kubectl("apply", "--server-side")
}
