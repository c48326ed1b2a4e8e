package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// withoutLogs is a Ray whose node is gone: it says of its logs that something went wrong.
type withoutLogs struct {
	*fakeRay

	asked atomic.Int64
}

func (w *withoutLogs) Logs(context.Context, rayjob.Handle, io.Writer) error {
	w.asked.Add(1)
	return job.Retryable(errors.New("500 Internal Server Error"))
}

// The output of a training is on the shared volume, so that a delivery needs nothing of a Ray that may be gone.
func TestADeliveryAsksRayForNoLogs(t *testing.T) {
	for name, verdict := range map[string]rayjob.Verdict{"after a success": rayjob.Succeeded, "after a failure": rayjob.Failed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				ray := &withoutLogs{fakeRay: b.ray}
				b.backend.Backend = ray
				b.ray.silent = verdict == rayjob.Failed
				b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: verdict} }
				began := time.Now()
				b.accept(t, run, nil)
				b.runUntilOver(t)
				require.Equal(t, map[rayjob.Verdict]job.State{rayjob.Succeeded: job.Done, rayjob.Failed: job.Failed}[verdict], b.get(t, run).State)
				require.Zero(t, ray.asked.Load())
				require.Less(t, time.Since(began), 10*time.Minute)
			})
		})
	}
}

func TestAHeadThatServesAfterFiveMinutes(t *testing.T) {
	for name, arrange := range map[string]func(t *testing.T, b *bench){
		"of a RayJob, which waits": func(t *testing.T, b *bench) { t.Helper(); b.waitsAndTrains(t, 5*time.Minute, 6*time.Minute) },
		"of a standing Ray, which answers nobody": func(t *testing.T, b *bench) {
			t.Helper()
			b.ray.refuse = job.Retryable(errors.New("cannot reach Ray: connection refused"))
			time.AfterFunc(5*time.Minute, func() {
				b.ray.mu.Lock()
				defer b.ray.mu.Unlock()
				b.ray.refuse = nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, func(c *Config) { c.PendingTimeout, c.MaxRetry = time.Hour, 10 }) // as they are by default
				began := time.Now()
				arrange(t, b)
				b.accept(t, run, nil)
				b.runUntilOver(t)
				require.Equal(t, job.Done, b.get(t, run).State)
				require.Equal(t, []string{"ft-one-a1"}, b.submitted(), "in its first attempt")
				require.GreaterOrEqual(t, time.Since(began), 5*time.Minute)
				require.Less(t, time.Since(began), 12*time.Minute)
			})
		})
	}
}

// A queue may take the machines of a training for another one, for example by a preemption of Kueue. Neither the time that it has trained, nor
// the time in the queue, nor its silence over both ends the job.
func TestATrainingThatIsSentBackToTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.PendingTimeout, c.StallTimeout = time.Hour, 3*time.Hour })
		b.waitsAndTrains(t, time.Minute, 300*time.Minute)
		began, trains := time.Now(), b.ray.script
		b.ray.script = func(attempt string, look int) rayjob.Observation {
			if passed := time.Since(began); passed > 150*time.Minute && passed < 200*time.Minute {
				return rayjob.Observation{Verdict: rayjob.Pending, Notice: `waiting in the queue "team": it was returned to the queue (Preempted)`}
			}
			return trains(attempt, look)
		}
		b.ray.silent = false // its progress is no news beside the wait
		b.accept(t, run, map[string]any{"max_minutes": 170})
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Equal(t, []string{"ft-one-a1"}, b.submitted(), "in its first attempt")
		require.Equal(t, []string{
			`Waiting in the queue "team": it was returned to the queue (Preempted)`,
			`Waiting in the queue "team": it was returned to the queue (Preempted); if this lasts until 1 Jan 03:30 UTC, the job fails`,
		}, b.texts(run, "Waiting in"))
	})
}

func TestAnImageThatDoesNotExistIsNamedToTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notice = "the image registry.example.org/ray:typo does not exist: ask the administrator to correct the image name"
		b := setup(t, func(c *Config) { c.PendingTimeout = time.Hour })
		b.ray.script = func(string, int) rayjob.Observation {
			return rayjob.Observation{Verdict: rayjob.Pending, Notice: notice}
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		rec := b.get(t, run)
		require.Equal(t, job.Failed, rec.State)
		require.Contains(t, rec.Ending.Text, "registry.example.org/ray:typo does not exist")
		require.Equal(t, []string{"ft-one-a1"}, b.ray.released, "it takes no room on Ray any more")
		shown := false
		for _, s := range b.published.of(run) {
			shown = shown || s.At.Before(rec.Began.Add(5*time.Minute)) && strings.Contains(s.Text, "does not exist")
		}
		require.True(t, shown, "within minutes, and not at the end alone")
	})
}
