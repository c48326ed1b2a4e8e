//go:build integration && crash

package crash

import (
	"path"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestCrashPointsOfACheck: a check registers no model, so that its success comes onto the disk together with its deliverables and the plan of
// their delivery.
func TestCrashPointsOfACheck(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range []crash.Point{
		crash.StartSent, crash.Observed, crash.Built, crash.UploadPending, crash.UploadDone, crash.FileDone, crash.FilesChecked, crash.Delivered, crash.EndDecided, crash.EndSent,
	} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixture(t, program, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
			first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
			id := w.Submit(t, w.Dataset, map[string]any{"dry_run": true})
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
			require.EqualValues(t, 1, w.Trainings.Load(), "the check ran once")

			last, updates := w.AwaitJob(t, id)
			require.Equal(t, "SUCCEEDED", last.Status)
			require.Equal(t, 1, countText(updates, "Results in folder"), "one last word: %v", updates)
			require.Equal(t, 1, countText(updates, "Accepted dataset"), "one greeting: %v", updates)
			files, err := w.Session.Files(t.Context(), w.Dataset)
			require.NoError(t, err)
			var names []string
			for _, f := range files {
				require.False(t, f.InFlight, f.Path)
				names = append(names, path.Base(f.Path))
			}
			slices.Sort(names)
			require.Equal(t, []string{"log.txt", "manifest.json", "report.html", "train.csv"}, names, "each file once")
			notes, err := w.Session.Metadata(t.Context(), w.Dataset)
			require.NoError(t, err)
			require.Len(t, notes, 1, "one metadata entry")
			shown, err := w.Session.Visualizations(t.Context(), w.Dataset)
			require.NoError(t, err)
			require.Len(t, shown, 1, "one card")
		})
	}
}
