package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// shortestLook is the shortest time between two looks at a training.
const shortestLook = 200 * time.Millisecond

func TestAWaitTellsItsEndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.PendingTimeout = time.Hour })
		b.waitsAndTrains(t, 10*time.Minute, 11*time.Minute)
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, []string{
			"Waiting for 1 CPU", "Waiting for 1 CPU; if this lasts until 1 Jan 01:00 UTC, the job fails",
		}, b.texts(run, "Waiting"))
	})
}

func TestTheEndOfATrainingIsSeenSoon(t *testing.T) {
	const longest = 2 * time.Second
	for _, tc := range []struct {
		trains, late time.Duration
		looks        int
	}{
		{300 * time.Millisecond, shortestLook, 5},
		{3 * time.Second, 300 * time.Millisecond, 20},
		{15 * time.Second, 1500 * time.Millisecond, 40},
		{5 * time.Minute, longest, 190},
	} {
		t.Run(tc.trains.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, func(c *Config) { c.Poll, c.StallTimeout = longest, time.Hour })
				began := time.Now()
				b.waitsAndTrains(t, 0, tc.trains)
				at := b.ray.script
				var seen time.Duration
				b.ray.script = func(attempt string, look int) rayjob.Observation {
					seen = time.Since(began)
					return at(attempt, look)
				}
				b.accept(t, run, nil)
				b.runUntilOver(t)
				const moved = 125 * time.Millisecond // a long wait ends together with others
				require.LessOrEqual(t, seen-tc.trains, tc.late+moved)
				require.LessOrEqual(t, b.ray.observed, tc.looks)
				require.LessOrEqual(t, b.ray.maxAge, tc.late+moved, "Ray is asked as often")
			})
		})
	}
}

func TestATrainingThatSaysItIsDoneIsSeenToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.Poll, c.StallTimeout = 2*time.Second, time.Hour })
		b.waitsAndTrains(t, 0, 5*time.Minute)
		at := b.ray.script
		var done, seen time.Time
		asked := time.Hour
		b.ray.script = func(attempt string, look int) rayjob.Observation {
			seen = time.Now()
			obs := at(attempt, look)
			if obs.Verdict == rayjob.Succeeded && done.IsZero() {
				done = seen // its files are written, and its process has not ended
			}
			if !done.IsZero() && seen.Sub(done) < 500*time.Millisecond {
				obs.Verdict, asked = rayjob.Running, min(asked, b.ray.maxAge)
			}
			return obs
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, 600*time.Millisecond, seen.Sub(done))
		require.Equal(t, shortestLook, asked)
	})
}
