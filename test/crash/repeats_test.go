//go:build integration && crash

package crash

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestCrashPointsOfJobsThatANewVersionRepeats: Clowder submits three equal jobs and a promotion again when their file gets a new version. One
// of them trains, wherever the service is killed, and nothing is promoted.
func TestCrashPointsOfJobsThatANewVersionRepeats(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range []crash.Point{crash.Accepted, crash.Acked, crash.Downloaded, crash.Submitted, crash.EndSent} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixtureWith(t, program, clowdertest.Options{AMQPURI: broker.ForTest(t).Vhost(t), UploadDelay: 10 * time.Millisecond, Resubmits: true},
				map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
			first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
			files, err := w.Session.Files(t.Context(), w.Dataset)
			require.NoError(t, err)
			for range 3 {
				w.Clowder.AddFileJob(stack.User, files[0].ID, stack.Extractor, map[string]any{"epochs": 2})
			}
			w.Clowder.AddFileJob(stack.User, files[0].ID, stack.Manager, map[string]any{"action": "promote"})
			client, err := clowder.NewClient(clowder.Config{URL: w.Clowder.URL})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			saver := client.Bearer(job.Secret(w.Clowder.Token(stack.User)))
			state, err := saver.FileState(t.Context(), files[0].ID)
			require.NoError(t, err)
			_, err = saver.Update(t.Context(), state, []byte("text,label\nfine,yes\nsad,no\n"))
			require.NoError(t, err)

			awaitKill(t, first, point)
			second := w.Start(t, nil)
			states := map[job.State]int{}
			for _, rec := range w.AwaitRecords(t, 4) {
				states[rec.State]++
				shown, _ := w.AwaitJob(t, rec.Request.JobID)
				require.Equal(t, map[job.State]string{job.Done: "SUCCEEDED", job.Skipped: "SKIPPED", job.Failed: "ERROR"}[rec.State], shown.Status)
				if rec.Kind == job.Train {
					require.Equal(t, job.NewVersion, rec.SentBy)
				}
			}
			require.NoError(t, second.Stop(30*time.Second))
			require.Equal(t, map[job.State]int{job.Done: 1, job.Skipped: 2, job.Failed: 1}, states, "a request about runs is about a dataset")
			require.EqualValues(t, 1, w.Trainings.Load())
			w.RequireNoKey(t, first.Log(), second.Log())
		})
	}
}
