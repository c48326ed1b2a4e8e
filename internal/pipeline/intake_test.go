package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

func TestAnIntakeHasAsManyFreeSlotsAsJobsAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(1, 0)) // four jobs in hand, one of them on Ray
		in := NewIntake(b.Pipeline, b.cfg.Extractors[0], nil, 2)
		release := b.holdTrainings()
		require.Equal(t, 4, in.Free())
		stop := b.start(t)
		defer stop()
		for _, run := range []string{"ft-1", "ft-2", "ft-3"} {
			b.acceptFrom(t, "alice", run)
		}
		<-time.After(5 * time.Second)
		require.Equal(t, 1, in.Free(), "those that wait for a place are in hand as well")
		<-in.Freed()
		release()
		require.Eventually(t, func() bool { return in.Free() == 4 }, time.Hour, time.Second)
		require.NotEmpty(t, in.Freed())
	})
}

func TestNoJobsAreTakenWhileTheyCouldNotBeServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := NewIntake(b.Pipeline, b.cfg.Extractors[0], nil, 2)
	b.Admit(false)
	require.Zero(t, in.Free())
	<-in.Freed()
	b.Admit(true)
	require.Equal(t, 4, in.Free())
	require.NotEmpty(t, in.Freed())
}

func TestAJobBeyondTheAllowanceWaitsAndItsUserHearsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perHour = 60
		b := setup(t, func(c *Config) { c.UserJobsPerHour = perHour })
		in := NewIntake(b.Pipeline, b.cfg.Extractors[0], nil, 2)
		take := func(run string) {
			rec := jobtest.Record(run, "h1")
			in.token(&rec)
			rec, _, err := b.store.Accept(t.Context(), rec)
			require.NoError(t, err)
			in.begin(rec)
		}
		stop := b.start(t)
		for range perHour - 1 {
			rec := jobtest.Record("ft-other", "h1")
			in.token(&rec)
		}
		for _, run := range []string{"ft-1", "ft-2", "ft-3"} {
			take(run)
		}
		<-time.After(30 * time.Second)
		require.Equal(t, job.Done, b.get(t, "ft-1").State)
		require.Equal(t, job.Accepted, b.get(t, "ft-3").State)
		require.Equal(t, 4, in.Free(), "a job that has not begun takes no other one's place")
		require.Equal(t, []string{"You have submitted more than 60 jobs within an hour: this one begins in about 2 min"}, b.texts("ft-3", "You"))
		stop()

		again := setupOn(t, b.dir, b.store)
		in = NewIntake(again.Pipeline, again.cfg.Extractors[0], nil, 2)
		stop = again.start(t)
		defer stop()
		<-time.After(80 * time.Second)
		require.Equal(t, job.Done, again.get(t, "ft-2").State)
		require.Equal(t, job.Accepted, again.get(t, "ft-3").State, "not even a restart lets it begin earlier")
		require.Equal(t, 4, in.Free())
		<-time.After(30 * time.Second)
		require.Equal(t, job.Done, again.get(t, "ft-3").State)
	})
}

func TestACancelledJobNeedNotWaitForItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		rec := jobtest.Record(run, "h1")
		rec.NotBefore = time.Now().Add(time.Hour)
		rec, _, err := b.store.Accept(t.Context(), rec)
		require.NoError(t, err)
		stop := b.start(t)
		defer stop()
		NewIntake(b.Pipeline, b.cfg.Extractors[0], nil, 2).begin(rec)
		<-time.After(time.Second)
		_, err = b.store.Change(t.Context(), run, func(r *job.Record) error { return r.Cancel("alice") })
		require.NoError(t, err)
		<-time.After(10 * time.Second)
		require.Equal(t, job.Cancelled, b.get(t, run).State)
	})
}
