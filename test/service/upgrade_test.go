//go:build integration

package service

import (
	"fmt"
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
	w.Restore(t, "service", strings.NewReplacer(
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
