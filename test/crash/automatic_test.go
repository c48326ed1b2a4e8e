//go:build integration && crash

package crash

import (
	"io"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/test/stack"
)

// quietPeriod is longer than the service takes to start again, so that no file misses its run.
const quietPeriod = 8 * time.Second

// asking is a dataset that asks for predictions of new files.
var asking = map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n", "finetune.yaml": "automatic: predict\n"}

// TestCrashPointsOfAnAutomaticRun: two new files of a dataset that asks for predictions are one prediction, however the service is killed. Its results,
// which Clowder v2 announces like all files, start nothing.
func TestCrashPointsOfAnAutomaticRun(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range []crash.Point{crash.Accepted, crash.Joined, crash.Downloaded, crash.UploadDone, crash.EndSent} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixture(t, program, asking)
			w.Env["AUTOMATIC_AFTER"] = quietPeriod.String()
			trained := w.Start(t, nil)
			w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
			require.Equal(t, job.Skipped, automaticOf(w.AwaitRecords(t, 2))[0].State, "the files of the training are results")
			require.NoError(t, trained.Stop(30*time.Second))

			first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
			for _, name := range []string{"a.png", "b.png"} {
				_, err := w.Session.Upload(t.Context(), w.Dataset, "", clowder.Body{
					Name: name, ContentType: "image/png", Size: 5, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("a.png")), nil },
				})
				require.NoError(t, err)
			}
			awaitKill(t, first, point)
			second := w.Start(t, nil)
			runs := automaticOf(w.AwaitRecords(t, 4))
			require.NoError(t, second.Stop(30*time.Second))
			require.Equal(t, []job.State{job.Skipped, job.Done, job.Skipped}, []job.State{runs[0].State, runs[1].State, runs[2].State})
			require.Len(t, runs[1].Request.Announced, 2, "both files")
			require.EqualValues(t, 2, w.Trainings.Load(), "one training and one prediction")

			files, err := w.Session.Files(t.Context(), w.Dataset)
			require.NoError(t, err)
			var paths []string
			for _, f := range files {
				require.False(t, f.InFlight, f.Path)
				paths = append(paths, f.Path)
			}
			require.Equal(t, slices.Compact(slices.Sorted(slices.Values(paths))), slices.Sorted(slices.Values(paths)), "no file twice")
			require.Equal(t, 2, countSuffix(paths, "/report.html"), "one folder of each run: %q", paths)
			last, updates := w.AwaitJob(t, runs[1].Request.JobID)
			require.Equal(t, "SUCCEEDED", last.Status)
			require.Equal(t, 1, countText(updates, "Results in folder"), "one last word: %v", updates)
			for _, a := range runs[1].Request.Announced {
				if other, _ := w.AwaitJob(t, a.JobID); a.JobID != runs[1].Request.JobID {
					require.Equal(t, "SKIPPED", other.Status, "the job of the other file says where it went")
				}
			}
			w.RequireNoKey(t, first.Log(), second.Log())
		})
	}
}

// TestCrashPointsOfAnAutomaticRunOfClowder1 is the same for the events of Clowder v1, which announces no results.
func TestCrashPointsOfAnAutomaticRunOfClowder1(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range []crash.Point{crash.Joined, crash.EndSent} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixture(t, program, nil)
			w.Env["AUTOMATIC_AFTER"] = quietPeriod.String()
			one := w.AddClowder1(t, asking)
			trained := w.Start(t, nil)
			one.AwaitEnd(t, one.Submit(t, stack.Extractor))
			w.AwaitRecords(t, 1)
			require.NoError(t, trained.Stop(30*time.Second))

			first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
			files := []string{one.Upload(t, "a.png", true), one.Upload(t, "b.png", true)}
			awaitKill(t, first, point)
			second := w.Start(t, nil)
			runs := automaticOf(w.AwaitRecords(t, 2))
			require.NoError(t, second.Stop(30*time.Second))
			require.Equal(t, job.Done, runs[0].State)
			require.Len(t, runs[0].Request.Announced, 2, "both files")
			require.EqualValues(t, 2, w.Trainings.Load(), "one training and one prediction")
			require.Equal(t, 2, countSuffix(one.Files(t), "/report.html"))
			for _, file := range files {
				lines := one.Events(file)
				require.Equal(t, "DONE", lines[len(lines)-1].Text, "the page of each new file shows an end: %v", lines)
			}
			w.RequireNoKey(t, first.Log(), second.Log())
		})
	}
}

// awaitKill waits until the service has ended at the crash point.
func awaitKill(t *testing.T, s *stack.Service, point crash.Point) {
	t.Helper()
	select {
	case <-s.Exited():
		require.Equal(t, killed, s.ExitCode(), "the service ended at the crash point\n%s", s.Log())
	case <-time.After(stack.StepTimeout):
		t.Fatalf("the service never came to %s\n%s", point, s.Log())
	}
}

// automaticOf are the automatic runs among all records, oldest first.
func automaticOf(all []job.Record) []job.Record {
	return slices.DeleteFunc(all, func(r job.Record) bool { return len(r.Request.Announced) == 0 })
}

func countSuffix(paths []string, suffix string) (n int) {
	for _, p := range paths {
		if strings.HasSuffix(path.Clean(p), suffix) {
			n++
		}
	}
	return n
}
