//go:build integration && crash

package crash

import (
	"testing"

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
			id, state := finishedAfterKill(t, w, point, func() string { return w.Submit(t, w.Dataset, map[string]any{"dry_run": true}) })
			require.Equal(t, job.Done, state)
			require.EqualValues(t, 1, w.Trainings.Load(), "the check ran once")

			last, updates := w.AwaitJob(t, id)
			require.Equal(t, "SUCCEEDED", last.Status)
			require.Equal(t, 1, countText(updates, "Results in folder"), "one last word: %v", updates)
			require.Equal(t, 1, countText(updates, "Accepted dataset"), "one first status: %v", updates)
			require.Equal(t, []string{"log.txt", "manifest.json", "report.html", "train.csv"}, fileNames(t, w), "each file once")
			notes, err := w.Session.Metadata(t.Context(), w.Dataset)
			require.NoError(t, err)
			require.Len(t, notes, 1, "one metadata entry")
			shown, err := w.Session.Visualizations(t.Context(), w.Dataset)
			require.NoError(t, err)
			require.Len(t, shown, 1, "one card")
		})
	}
}
