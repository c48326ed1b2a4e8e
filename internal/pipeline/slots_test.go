package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// acceptFrom stores a new job of a user, a second after the one before.
func (b *bench) acceptFrom(t *testing.T, user, run string) {
	t.Helper()
	<-time.After(time.Second)
	_, _, err := b.store.Accept(t.Context(), job.New(run, job.Train, jobtest.Record(run, "h1").Request, job.Secret("key of "+user)))
	require.NoError(t, err)
}

// holdTrainings lets no training end before the returned function is called: for some attempts, or for all.
func (b *bench) holdTrainings() (release func(attempts ...string)) {
	all, released := false, map[string]bool{}
	b.ray.script = func(attempt string, _ int) rayjob.Observation {
		if all || released[attempt] {
			return rayjob.Observation{Verdict: rayjob.Succeeded}
		}
		return rayjob.Observation{Verdict: rayjob.Running}
	}
	return func(attempts ...string) {
		b.ray.mu.Lock()
		defer b.ray.mu.Unlock()
		all = all || len(attempts) == 0
		for _, attempt := range attempts {
			released[attempt] = true
		}
	}
}

func (b *bench) submitted() []string {
	b.ray.mu.Lock()
	defer b.ray.mu.Unlock()
	return slices.Clone(b.ray.submits)
}

// texts are what was said about a job and begins with a text.
func (b *bench) texts(run, begin string) (out []string) {
	for _, s := range b.published.of(run) {
		if strings.HasPrefix(s.Text, begin) {
			out = append(out, s.Text)
		}
	}
	return out
}

// start runs the pipeline until the returned function is called.
func (b *bench) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return func() {
		cancel(ErrStopping)
		require.NoError(t, <-done)
	}
}

// crowded is a pipeline with few places on Ray, whose trainings may be silent for long.
func crowded(places, each int) func(*Config) {
	return func(c *Config) { c.MaxRunning, c.MaxRunningPerUser, c.StallTimeout = places, each, time.Hour }
}

func TestUsersTakeTurnsOnRayAndHearOfTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(1, 0))
		release := b.holdTrainings()
		stop := b.start(t)
		defer stop()
		for _, run := range []string{"ft-alice-1", "ft-alice-2", "ft-alice-3"} {
			b.acceptFrom(t, "alice", run)
			<-time.After(5 * time.Second)
		}
		b.acceptFrom(t, "bob", "ft-bob-1")
		<-time.After(time.Minute)
		require.Equal(t, []string{"ft-alice-1-a1"}, b.submitted(), "one at a time")
		require.Equal(t, job.Staged, b.get(t, "ft-bob-1").State)
		require.Equal(t, []string{"Waiting for a free slot on Ray: 1 job ahead in the queue"}, b.texts("ft-bob-1", "Waiting"))
		require.Equal(t, []string{"Waiting for a free slot on Ray: next in the queue"}, b.texts("ft-alice-2", "Waiting"))
		require.Equal(t, []string{
			"Waiting for a free slot on Ray: 1 job ahead in the queue", "Waiting for a free slot on Ray: 2 jobs ahead in the queue",
		}, b.texts("ft-alice-3", "Waiting"), "told again when it changed")

		release()
		require.Eventually(t, func() bool { return len(b.submitted()) == 4 }, time.Hour, time.Second)
		require.Equal(t, []string{"ft-alice-1-a1", "ft-alice-2-a1", "ft-bob-1-a1", "ft-alice-3-a1"}, b.submitted())
		require.Eventually(t, func() bool { return b.get(t, "ft-alice-3").State == job.Done }, time.Hour, time.Second)
		inside, waiting := b.slots.Ray.Size()
		require.Equal(t, []int{0, 0}, []int{inside, waiting}, "nobody keeps a place")
	})
}

func TestOneUserTakesNoMoreThanTheOwnPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(4, 2), func(c *Config) { c.MaxJobs = 5 })
		release := b.holdTrainings()
		stop := b.start(t)
		defer stop()
		for i := range 4 {
			b.acceptFrom(t, "alice", fmt.Sprintf("ft-alice-%d", i))
			<-time.After(time.Second)
		}
		b.acceptFrom(t, "bob", "ft-bob-0")
		<-time.After(time.Minute)
		require.Equal(t, []string{"ft-alice-0-a1", "ft-alice-1-a1", "ft-bob-0-a1"}, b.submitted())
		require.Equal(t, []string{"Waiting for a free slot on Ray: the limit is 2 jobs per user at a time"}, b.texts("ft-alice-2", "Waiting"))
		release()
		require.Eventually(t, func() bool { return len(b.submitted()) == 5 }, time.Hour, time.Second)
	})
}

func TestAJobThatWaitsIsGreetedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(1, 0))
		release := b.holdTrainings()
		end := b.start(t)
		b.acceptFrom(t, "alice", "ft-first")
		<-time.After(5 * time.Second)
		b.acceptFrom(t, "bob", "ft-waits")
		<-time.After(2 * time.Minute)
		end()
		require.Equal(t, job.Staged, b.get(t, "ft-waits").State)
		require.True(t, b.get(t, "ft-waits").StartSent, "noted though nothing else changed")

		again := setupOn(t, b.dir, b.store, crowded(1, 0))
		again.backend.Backend = b.ray
		release()
		stop := again.start(t)
		defer stop()
		require.Eventually(t, func() bool { return b.get(t, "ft-waits").State == job.Done }, time.Hour, time.Second)
		require.NotContains(t, again.published.kinds("ft-waits"), message.StatusStart)
	})
}

func TestACancelledJobLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(1, 0))
		release := b.holdTrainings()
		stop := b.start(t)
		defer stop()
		for _, run := range []string{"ft-1", "ft-2", "ft-3"} {
			b.acceptFrom(t, "alice", run)
			<-time.After(time.Second)
		}
		<-time.After(time.Second)
		_, err := b.store.Change(t.Context(), "ft-2", func(r *job.Record) error { return r.Cancel("alice") })
		require.NoError(t, err)
		require.Eventually(t, func() bool { return b.get(t, "ft-2").State == job.Cancelled }, time.Hour, time.Second)
		_, waiting := b.slots.Ray.Size()
		require.Equal(t, 1, waiting)
		release()
		require.Eventually(t, func() bool { return b.get(t, "ft-3").State == job.Done }, time.Hour, time.Second)
		require.Equal(t, []string{"ft-1-a1", "ft-3-a1"}, b.submitted())
	})
}

func TestPlacesAreKeptOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(1, 0))
		b.holdTrainings()
		stop := b.start(t)
		b.acceptFrom(t, "alice", "ft-1")
		<-time.After(10 * time.Second)
		b.acceptFrom(t, "bob", "ft-2")
		<-time.After(10 * time.Second)
		stop()
		require.Equal(t, []string{"ft-1-a1"}, b.submitted())

		again := setupOn(t, b.dir, b.store, crowded(1, 0))
		again.backend.Backend = b.ray
		stopAfter(t, again, 30*time.Second)
		require.Equal(t, []string{"ft-1-a1"}, b.submitted(), "the place of the first one is still taken")
		require.Equal(t, []string{"Waiting for a free slot on Ray: next in the queue"}, again.texts("ft-2", "Waiting"))
	})
}

func TestAJobKeepsItsPlaceFromOneAttemptToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(1, 0))
		b.ray.script = func(attempt string, look int) rayjob.Observation {
			if attempt == "ft-1-a1" && look > 20 {
				return rayjob.Observation{Verdict: rayjob.Failed, Reason: "a machine was lost"}
			}
			return rayjob.Observation{Verdict: rayjob.Running}
		}
		b.ray.silent = true
		stop := b.start(t)
		defer stop()
		b.acceptFrom(t, "alice", "ft-1")
		<-time.After(10 * time.Second)
		b.acceptFrom(t, "bob", "ft-2")
		<-time.After(time.Minute)
		require.Equal(t, []string{"ft-1-a1", "ft-1-a2"}, b.submitted())
	})
}
