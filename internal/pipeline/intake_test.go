package pipeline

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/intake"
	"github.com/ncsa/clowder-ray/internal/platform"
)

func TestAnIntakeHasAsManyFreeSlotsAsJobsAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(1, 0)) // four jobs in hand, one of them on Ray
		in := b.NewIntake(b.cfg.Extractors[0], nil, 2)
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
	in := b.NewIntake(b.cfg.Extractors[0], nil, 2)
	b.SetAdmission(false)
	require.Zero(t, in.Free())
	<-in.Freed()
	b.SetAdmission(true)
	require.Equal(t, 4, in.Free())
	require.NotEmpty(t, in.Freed())
}

func TestAJobBeyondTheAllowanceWaitsAndItsUserHearsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perHour = 60
		b := setup(t, func(c *Config) { c.UserJobsPerHour = perHour })
		in := b.NewIntake(b.cfg.Extractors[0], nil, 2)
		take := func(run string) {
			rec := jobtest.Record(run, "h1")
			b.slots.Token(&rec)
			rec, _, err := b.store.Accept(t.Context(), rec)
			require.NoError(t, err)
			b.loop.Begin(rec)
		}
		stop := b.start(t)
		for range perHour - 1 {
			rec := jobtest.Record("ft-other", "h1")
			b.slots.Token(&rec)
		}
		for _, run := range []string{"ft-1", "ft-2", "ft-3"} {
			take(run)
		}
		<-time.After(30 * time.Second)
		require.Equal(t, job.Done, b.get(t, "ft-1").State)
		require.Equal(t, job.Accepted, b.get(t, "ft-3").State)
		require.Equal(t, 4, in.Free(), "a job that has not begun takes no other one's place")
		require.Equal(t, []string{"You submitted more than 60 jobs within an hour: this one will start in about 2 min"}, b.texts("ft-3", "You"))
		stop()

		again := setupOn(t, b.dir, b.store)
		in = again.NewIntake(again.cfg.Extractors[0], nil, 2)
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

// shared is a pipeline of eight jobs in hand, of which three may be one user's, and whose trainings do not end before release.
func shared(t *testing.T) (b *bench, in *intake.Intake, release func(attempts ...string)) {
	t.Helper()
	b = setup(t, crowded(0, 0), func(c *Config) { c.MaxJobs, c.MaxJobsPerUser = 8, 3 })
	return b, b.NewIntake(b.cfg.Extractors[0], nil, 2), b.holdTrainings()
}

// bring takes a job of a user as the intake does.
func (b *bench) bring(t *testing.T, e platform.Extractor, user, run string) {
	t.Helper()
	rec := job.New(run, job.Train, jobtest.Record(run, "h1").Request, job.Secret("key of "+user))
	rec.Kind, rec.Request.Extractor = e.Kind, e.Info.Name
	b.slots.Token(&rec)
	rec, _, err := b.store.Accept(t.Context(), rec)
	require.NoError(t, err)
	b.loop.Begin(rec)
	<-time.After(time.Millisecond)
}

func (b *bench) states(t *testing.T, runs ...string) (states []job.State) {
	t.Helper()
	for _, run := range runs {
		states = append(states, b.get(t, run).State)
	}
	return states
}

func TestNoUserFillsAllSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 60
		b, in, release := shared(t)
		stop := b.start(t)
		for i := range flood {
			require.GreaterOrEqual(t, in.Free(), 5, "whatever one user brings, the next message is taken")
			b.bring(t, b.cfg.Extractors[0], "alice", fmt.Sprintf("ft-alice-%04d", i))
		}
		b.bring(t, b.cfg.Extractors[0], "bob", "ft-bob")
		<-time.After(time.Minute)
		require.Equal(t, []job.State{job.Running, job.Running, job.Running, job.Accepted}, b.states(t, "ft-alice-0000", "ft-alice-0002", "ft-bob", "ft-alice-0003"))
		require.Equal(t, []string{"Waiting to start: the limit is 3 jobs per user at a time"}, b.texts("ft-alice-0003", "Waiting"))
		require.Equal(t, []string{"Waiting to start: the limit is 3 jobs per user at a time, and 2 jobs of yours are ahead"},
			b.texts("ft-alice-0005", "Waiting"))
		require.NotEmpty(t, b.texts("ft-alice-0059", "Accepted"), "its user knows that it is here")
		stop()

		again := setupOn(t, b.dir, b.store, crowded(0, 0), func(c *Config) { c.MaxJobs, c.MaxJobsPerUser = 8, 3 })
		again.backend.Backend = b.ray
		in = again.NewIntake(again.cfg.Extractors[0], nil, 2)
		stop = again.start(t)
		defer stop()
		<-time.After(time.Minute)
		inside, waiting := again.slots.InProgress.Size()
		require.Equal(t, []int{4, flood - 3}, []int{inside, waiting}, "a restart changes nothing")
		require.Equal(t, []job.State{job.Running, job.Accepted}, again.states(t, "ft-bob", "ft-alice-0003"))
		require.GreaterOrEqual(t, in.Free(), 4)

		_, err := again.store.Change(t.Context(), "ft-alice-0004", func(r *job.Record) error { return r.Cancel("alice") })
		require.NoError(t, err)
		<-time.After(10 * time.Second)
		require.Equal(t, []job.State{job.Cancelled, job.Accepted}, again.states(t, "ft-alice-0004", "ft-alice-0003"), "a job that waits can be cancelled at once")
		for i, ended := range []string{"ft-alice-0000-a1", "ft-alice-0001-a1", "ft-alice-0002-a1"} {
			release(ended)
			require.Eventually(t, func() bool { return len(b.submitted()) == 5+i }, time.Hour, time.Second)
		}
		require.Equal(t, []string{"ft-alice-0003-a1", "ft-alice-0005-a1", "ft-alice-0006-a1"}, b.submitted()[4:], "the oldest first")
	})
}

func TestWhereTheSlotsAreFullTheUsersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, in, release := shared(t)
		stop := b.start(t)
		defer stop()
		for _, user := range []string{"alice", "bob"} {
			for i := range 12 {
				b.bring(t, b.cfg.Extractors[0], user, fmt.Sprintf("ft-%s-%02d", user, i))
			}
		}
		b.bring(t, b.cfg.Extractors[0], "carol", "ft-carol-0")
		b.bring(t, b.cfg.Extractors[0], "carol", "ft-carol-1")
		inside, _ := b.slots.InProgress.Size()
		require.Equal(t, 8, inside)
		require.Equal(t, 8, in.Free(), "others may be behind those that wait")
		b.bring(t, b.cfg.Extractors[0], "dave", "ft-dave")
		<-time.After(time.Minute)
		require.Equal(t, []string{"Waiting to start: 2 jobs ahead in the queue"}, b.texts("ft-dave", "Waiting"))
		for i, ended := range []string{"ft-alice-00-a1", "ft-bob-00-a1", "ft-alice-01-a1"} {
			release(ended)
			require.Eventually(t, func() bool { return len(b.submitted()) == 9+i }, time.Hour, time.Second)
		}
		require.Equal(t, []string{"ft-alice-03-a1", "ft-bob-03-a1", "ft-dave-a1"}, b.submitted()[8:], "without waiting for all of alice's")
	})
}

func TestOneUserMayTakeAllSlotsWhereTheOperatorSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, crowded(0, 0), func(c *Config) { c.MaxJobsPerUser = c.MaxJobs })
		in := b.NewIntake(b.cfg.Extractors[0], nil, 2)
		b.holdTrainings()
		stop := b.start(t)
		defer stop()
		for _, run := range []string{"ft-1", "ft-2", "ft-3", "ft-4"} {
			b.bring(t, b.cfg.Extractors[0], "alice", run)
		}
		require.Zero(t, in.Free(), "the others stay in RabbitMQ")
	})
}

func TestRequestsOfAUserAreLimitedAndTakeNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perHour = 60
		b := setup(t, func(c *Config) { c.UserRequestsPerHour = perHour })
		b.platform.readable = jobtest.Record(run, "h1").Request.DatasetID
		train := b.NewIntake(b.cfg.Extractors[0], nil, 2)
		for i := range perHour + 1 {
			b.bring(t, b.cfg.Extractors[4], "alice", fmt.Sprintf("ft-%02d", i))
		}
		b.bring(t, b.cfg.Extractors[4], "bob", "ft-bob")
		require.Equal(t, 4, train.Free(), "requests keep nobody from training")
		stop := b.start(t)
		defer stop()
		<-time.After(30 * time.Second)
		require.Equal(t, []job.State{job.Done, job.Done, job.Accepted, job.Done}, b.states(t, "ft-00", "ft-59", "ft-60", "ft-bob"))
		require.Equal(t, []string{"You submitted more than 60 requests within an hour: this one will start in 60 s"}, b.texts("ft-60", "You"))
		<-time.After(time.Minute)
		require.Equal(t, job.Done, b.get(t, "ft-60").State)
		require.Zero(t, b.slots.Active(job.Runs).Count(b.get(t, "ft-60").Owner))
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
		b.loop.Begin(rec)
		<-time.After(time.Second)
		_, err = b.store.Change(t.Context(), run, func(r *job.Record) error { return r.Cancel("alice") })
		require.NoError(t, err)
		<-time.After(10 * time.Second)
		require.Equal(t, job.Cancelled, b.get(t, run).State)
	})
}
