package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// wallClock is one that somebody sets.
type wallClock struct{ ahead atomic.Int64 }

func (c *wallClock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *wallClock) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// jumps are how far clocks are set in tests: more than the limits there, as by somebody who mistakes the zone.
var jumps = []time.Duration{time.Hour, -time.Hour}

// waitsAndTrains lets a training begin and end so long after now, and leave nothing before its end.
func (b *bench) waitsAndTrains(t *testing.T, begin, end time.Duration) {
	t.Helper()
	began := time.Now()
	b.ray.silent = true
	b.ray.script = func(string, int) rayjob.Observation {
		switch passed := time.Since(began); {
		case passed < begin:
			return rayjob.Observation{Verdict: rayjob.Pending, Notice: "waiting for 1 CPU"}
		case passed < end:
			return rayjob.Observation{Verdict: rayjob.Running}
		default:
			require.NoError(t, resultstest.Play(b.ray.volume.Run(run).Path(), run, 1))
			return rayjob.Observation{Verdict: rayjob.Succeeded}
		}
	}
}

func TestAClockThatIsSetEndsNoJob(t *testing.T) {
	for _, by := range jumps {
		for name, when := range map[string]time.Duration{"while it waits": 5 * time.Second, "while it trains": 30 * time.Second} {
			for _, restarted := range []bool{false, true} {
				t.Run(fmt.Sprintf("by %s %s, restarted %t", by, name, restarted), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var wall wallClock
						b := setup(t)
						b.clock.Wall = wall.now
						b.waitsAndTrains(t, 20*time.Second, 50*time.Second)
						b.accept(t, run, map[string]any{"max_minutes": 1})
						stop := b.start(t)
						<-time.After(when)
						wall.set(by)
						if restarted {
							stop()
							again := setupOn(t, b.dir, b.store)
							again.backend.Backend, again.source.Platform, again.clock.Wall = b.ray, b.platform, wall.now
							stop = again.start(t)
						}
						<-time.After(time.Minute)
						stop()
						rec := b.get(t, run)
						require.Equal(t, job.Done, rec.State, "%+v", rec.Ending)
						require.Equal(t, []string{"ft-one-a1"}, b.ray.submits, "trained once")
					})
				})
			}
		}
	}
}

func TestAWaitHasAnEndWhateverTheClockSays(t *testing.T) {
	for _, by := range append(jumps, 0) {
		t.Run(by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var wall wallClock
				b := setup(t)
				b.clock.Wall = wall.now
				b.waitsAndTrains(t, time.Hour, time.Hour)
				b.accept(t, run, nil)
				defer b.start(t)()
				<-time.After(10 * time.Second)
				wall.set(by)
				<-time.After(40 * time.Second)
				require.Equal(t, job.Submitted, b.get(t, run).State)
				<-time.After(20 * time.Second)
				require.Equal(t, job.Failed, b.get(t, run).State)
				require.Contains(t, b.get(t, run).Ending.Text, "did not start on Ray within 6")
			})
		})
	}
}

func TestAClockThatIsSetBackMakesNoPauseLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wall wallClock
		b := setup(t)
		b.clock.Wall = wall.now
		b.platform.stage = func() error {
			if wall.ahead.Load() == 0 {
				wall.set(-time.Hour)
				return errors.New("connection refused")
			}
			return nil
		}
		b.accept(t, run, nil)
		began := time.Now()
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Less(t, time.Since(began), time.Minute)
	})
}

func TestAJobThatIsSpreadBeginsInTime(t *testing.T) {
	for _, by := range jumps {
		t.Run(by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var wall wallClock
				b := setup(t)
				b.clock.Wall = wall.now
				defer b.start(t)()
				rec := jobtest.Record(run, "h1")
				rec.NotBefore = time.Now().Add(3 * time.Minute).UTC()
				rec, _, err := b.store.Accept(t.Context(), rec)
				require.NoError(t, err)
				b.loop.Begin(rec)
				<-time.After(time.Minute)
				wall.set(by)
				<-time.After(time.Minute)
				require.Equal(t, job.Accepted, b.get(t, run).State)
				<-time.After(70 * time.Second)
				require.Equal(t, job.Done, b.get(t, run).State)
			})
		})
	}
}

func TestAChangeByAnotherProcessIsSeenAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wall wallClock
		wall.set(time.Hour)
		b := setup(t)
		b.clock.Wall = wall.now
		b.accept(t, run, map[string]any{"epochs": 0})
		stop := b.start(t)
		defer stop()
		<-time.After(10 * time.Second)
		require.Equal(t, job.Failed, b.get(t, run).State)
		wall.set(0)
		_, err := b.store.Change(t.Context(), run, func(r *job.Record) error {
			r.Request.Parameters = nil
			return r.Retry()
		})
		require.NoError(t, err)
		<-time.After(30 * time.Second)
		require.Equal(t, job.Done, b.get(t, run).State)
	})
}

func TestTheClockOfTheTrainingDoesNotCount(t *testing.T) {
	for _, by := range append(jumps, 0) {
		for _, speaks := range []bool{true, false} {
			t.Run(fmt.Sprintf("by %s, speaks %t", by, speaks), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := setup(t, func(c *Config) { c.MaxAttempts = 1 })
					b.waitsAndTrains(t, 0, 2*time.Minute)
					look := b.ray.script
					b.ray.script = func(a string, n int) rayjob.Observation {
						if speaks || n < 10 {
							b.tells(t, time.Now().Add(by), n)
						}
						return look(a, n)
					}
					b.accept(t, run, nil)
					b.runUntilOver(t)
					want := map[bool]job.State{true: job.Done, false: job.Failed}
					require.Equal(t, want[speaks], b.get(t, run).State)
				})
			})
		}
	}
}

// tells lets the training say how far it is, at a time of its own clock.
func (b *bench) tells(t *testing.T, at time.Time, step int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(b.ray.volume.Run(run).Path(), results.EventsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, `{"time":%q,"attempt":1,"kind":"progress","epoch":1,"epochs":1,"step":%d,"steps":999}`+"\n",
		at.UTC().Format(time.RFC3339Nano), step)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
