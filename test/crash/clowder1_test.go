//go:build integration && crash

package crash

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestCrashPointsWithClowderV1 is TestCrashPoints with Clowder v1. v1 shows nobody but the readers of its pages which statuses have arrived. So
// a status whose arrival was confirmed at the moment of the kill is sent again; everything else happens once.
func TestCrashPointsWithClowderV1(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range crash.Points() {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixtureWith(t, program, clowdertest.Options{Version: 1, AMQPURI: broker.ForTest(t).Vhost(t), StoreDelay: 20 * time.Millisecond},
				map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
			client, err := clowder.NewClient(clowder.Config{URL: w.Clowder.URL, Cache: disk.Folder{Volume: t.TempDir()}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			s, err := v1.At(client, "", job.Secret(w.Clowder.Key(stack.User)))
			require.NoError(t, err)

			first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
			_, err = s.Submit(t.Context(), w.Dataset, stack.Extractor, map[string]any{"epochs": 1})
			require.NoError(t, err)
			select {
			case <-first.Exited():
				require.Equal(t, killed, first.ExitCode(), "the service ended at the crash point\n%s", first.Log())
			case <-time.After(stack.StepTimeout):
				t.Fatalf("the service never came to %s\n%s", point, first.Log())
			}
			second := w.Start(t, nil)
			records := w.AwaitRecords(t, 1)
			require.Equal(t, job.Done, records[0].State, "%s", records[0].LastError)
			require.NoError(t, second.Stop(30*time.Second))
			require.EqualValues(t, 1, w.Trainings.Load(), "one training")
			checkV1Events(t, w, point)
			checkV1Results(t, w, s)
			require.NotContains(t, first.Log()+second.Log(), w.Clowder.Key(stack.User))
		})
	}
}

// checkV1Events looks at the page of the dataset: all lines in one group, a greeting, a result, and DONE at the end.
func checkV1Events(t *testing.T, w *stack.Fixture, point crash.Point) {
	t.Helper()
	events := w.Clowder.Events(w.Dataset)
	counts := map[string]int{}
	for _, e := range events {
		require.Equal(t, stack.Extractor, e.Extractor)
		require.Equal(t, events[0].JobID, e.JobID)
		switch {
		case e.Text == "DONE":
			counts["done"]++
		case strings.Contains(e.Text, "Accepted dataset"):
			counts["start"]++
		case strings.Contains(e.Text, "held-out rows"):
			counts["result"]++
		}
	}
	most := map[string]int{"start": 1, "result": 1, "done": 1}
	switch point {
	case crash.StartSent:
		most["start"] = 2
	case crash.EndSent:
		most["result"], most["done"] = 2, 2
	default:
	}
	for what, n := range most {
		require.GreaterOrEqual(t, counts[what], 1, "%s in %v", what, events)
		require.LessOrEqual(t, counts[what], n, "%s in %v", what, events)
	}
	require.Equal(t, "DONE", events[len(events)-1].Text, "nothing after the end")
}

// checkV1Results looks for everything that must be there exactly once.
func checkV1Results(t *testing.T, w *stack.Fixture, s *v1.Session) {
	t.Helper()
	files, err := s.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	var paths []string
	folders := map[string]bool{}
	for _, f := range files {
		paths = append(paths, f.Path)
		if parts := strings.Split(f.Path, "/"); len(parts) > 2 {
			folders[parts[0]+"/"+parts[1]] = true
		}
		shown, err := s.Previews(t.Context(), f.ID)
		require.NoError(t, err)
		if strings.HasSuffix(f.Path, ".png") {
			require.Len(t, shown, 1, f.Path)
		}
	}
	slices.Sort(paths)
	require.Equal(t, slices.Compact(slices.Clone(paths)), paths, "no file twice")
	require.Len(t, folders, 1, "one folder")
	for _, name := range []string{"model.zip", "metrics.json", "predictions.csv", "report.html"} {
		require.True(t, slices.ContainsFunc(paths, func(p string) bool { return path.Base(p) == name }), "%s in %v", name, paths)
	}
	notes, err := s.Metadata(t.Context(), w.Dataset)
	require.NoError(t, err)
	require.Len(t, notes, 1, "one metadata entry")
}
