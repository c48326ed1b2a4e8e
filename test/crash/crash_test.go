//go:build integration && crash

// Package crash kills the service with an exit that runs no clean-up at every crash point, starts it again, and looks at
// what a user would find. RabbitMQ is a real one; Clowder is the double, Ray the double that plays a training.
package crash

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(broker.Main(m)) }

// killed is the exit code of a process that was killed with SIGKILL, as a shell reports it.
const killed = 137

func TestCrashPoints(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range crash.Points() {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixture(t, program, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
			// With a studio, the dataset shows a card while the run goes on.
			w.Env["STUDIO_URL"], w.Env["STUDIO_LISTEN"] = "http://studio.example.org", "127.0.0.1:0"
			first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
			id := w.Submit(t, w.Dataset, map[string]any{"epochs": 1})
			select {
			case <-first.Exited():
				require.Equal(t, killed, first.ExitCode(), "the service ended at the crash point\n%s", first.Log())
			case <-time.After(stack.StepTimeout):
				t.Fatalf("the service never came to %s\n%s", point, first.Log())
			}
			second := w.Start(t, nil)
			records := w.AwaitRecords(t, 1)
			require.Equal(t, job.Done, records[0].State)
			require.NoError(t, second.Stop(30*time.Second))
			check(t, w, id, first.Log()+second.Log())
		})
	}
}

// TestCrashPointsOfAFailedScript: what a script had saved before it failed is delivered once, and the job fails.
func TestCrashPointsOfAFailedScript(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range []crash.Point{crash.Observed, crash.Built, crash.UploadPending, crash.UploadDone, crash.FileDone, crash.FilesChecked, crash.Delivered, crash.EndDecided, crash.EndSent} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixture(t, program, map[string]string{"train.py": "raise SystemExit(3)\n"})
			w.PlayTrainings(func(_ context.Context, folder string, _ raytest.Driver) int {
				if err := resultstest.PlayScript(folder, path.Base(folder), 1, true); err != nil {
					return 1
				}
				return 2
			})
			id, state := finishedAfterKill(t, w, point, func() string { return w.SubmitTo(t, "ncsa.ray.script", w.Dataset, map[string]any{}) })
			require.Equal(t, job.Failed, state)
			require.EqualValues(t, 1, w.Trainings.Load(), "the script ran once")

			last, updates := w.AwaitJob(t, id)
			require.NotEqual(t, "SUCCEEDED", last.Status)
			require.Equal(t, 1, countText(updates, "What the script had saved is delivered"), "one last word: %v", updates)
			require.Equal(t, []string{"ckpt.pt", "log.txt", "manifest.json", "report.html", "train.py"}, fileNames(t, w), "each file once")
			notes, err := w.Session.Metadata(t.Context(), w.Dataset)
			require.NoError(t, err)
			require.Len(t, notes, 1, "one metadata entry")
		})
	}
}

// finishedAfterKill submits a job to a service that is killed at point, and returns the id of the job and the state in which a second service ends it.
func finishedAfterKill(t *testing.T, w *stack.Fixture, point crash.Point, submit func() string) (id string, state job.State) {
	t.Helper()
	first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
	id = submit()
	select {
	case <-first.Exited():
		require.Equal(t, killed, first.ExitCode(), "the service ended at the crash point\n%s", first.Log())
	case <-time.After(stack.StepTimeout):
		t.Fatalf("the service never came to %s\n%s", point, first.Log())
	}
	second := w.Start(t, nil)
	state = w.AwaitRecords(t, 1)[0].State
	require.NoError(t, second.Stop(30*time.Second))
	return id, state
}

// fileNames are the sorted names of the files in the dataset, which are all complete.
func fileNames(t *testing.T, w *stack.Fixture) (names []string) {
	t.Helper()
	files, err := w.Session.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	for _, f := range files {
		require.False(t, f.InFlight, f.Path)
		names = append(names, path.Base(f.Path))
	}
	slices.Sort(names)
	return names
}

// check looks for everything that must be there exactly once.
func check(t *testing.T, w *stack.Fixture, id, logs string) {
	t.Helper()
	require.EqualValues(t, 1, w.Trainings.Load(), "one training")
	require.Empty(t, w.Ray.Jobs(), "nothing is left on Ray")

	last, updates := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", last.Status)
	require.Equal(t, 1, countText(updates, "held-out "), "one last word: %v", updates)
	require.Equal(t, 1, countText(updates, "Accepted dataset"), "one first status: %v", updates)
	require.Contains(t, updates[len(updates)-1].Text, "held-out ", "nothing after the last word")

	files, err := w.Session.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	var paths []string
	folders := map[string]bool{}
	for _, f := range files {
		require.False(t, f.InFlight, f.Path)
		paths = append(paths, f.Path)
		if parts := strings.Split(f.Path, "/"); len(parts) > 2 {
			folders[parts[0]+"/"+parts[1]] = true
		}
	}
	slices.Sort(paths)
	require.Equal(t, slices.Compact(slices.Clone(paths)), paths, "no file twice")
	require.Len(t, folders, 1, "one folder")
	for _, name := range []string{"model.zip", "metrics.json", "predictions.csv", "report.html"} {
		require.True(t, slices.ContainsFunc(paths, func(p string) bool { return path.Base(p) == name }), "%s in %v", name, paths)
	}
	notes, err := w.Session.Metadata(t.Context(), w.Dataset)
	require.NoError(t, err)
	require.Len(t, notes, 1, "one metadata entry")
	versions, err := registry.New(disk.Folder{Volume: w.Env["SHARED_DIR"], Name: "registry"}).
		All(registry.Dataset{Clowder: connect.Address(w.Env["CLOWDER_URL"]), ID: w.Dataset})
	require.NoError(t, err)
	require.Len(t, versions, 1, "one version of the model")
	require.True(t, versions[0].Won(), "which is the champion")
	shown, err := w.Session.Visualizations(t.Context(), w.Dataset)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, v := range shown {
		require.False(t, seen[v.Name], "%s twice", v.Name)
		require.NotEqual(t, "live", v.Parameters["artifact"], "the card of the run is gone")
		require.Len(t, v.DataIDs, 1)
		seen[v.Name] = true
	}
	require.NotEmpty(t, seen)
	said := []string{logs}
	for _, u := range updates {
		said = append(said, u.Text)
	}
	w.RequireNoKey(t, said...)
}

func countText(updates []clowder.JobUpdate, text string) (n int) {
	for _, u := range updates {
		if strings.Contains(u.Text, text) {
			n++
		}
	}
	return n
}
