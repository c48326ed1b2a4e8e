package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

// in returns a record in a state; ending ones have their end decided.
func in(state job.State, ending bool) job.Record {
	rec := jobtest.Record("ft-one", "h1")
	rec.State = state
	if ending {
		rec.End(job.Done, "accuracy 0.9")
	}
	return rec
}

func TestWhatMayBeCommandedOfAJob(t *testing.T) {
	t.Parallel()
	type answers struct{ cancel, stop, retry string }
	const over, saving, early, unretried = "has already ended", "is saving its results", "nothing to keep", "only a failed or cancelled job"
	for name, tc := range map[string]struct {
		rec  job.Record
		want answers
	}{
		"accepted":               {in(job.Accepted, false), answers{"", early, unretried}},
		"staged":                 {in(job.Staged, false), answers{"", early, unretried}},
		"waiting for Ray":        {in(job.Submitted, false), answers{"", early, unretried}},
		"running":                {in(job.Running, false), answers{"", "", unretried}},
		"finished":               {in(job.Finished, false), answers{saving, saving, unretried}},
		"collected":              {in(job.Collected, false), answers{saving, saving, unretried}},
		"running, an end chosen": {in(job.Running, true), answers{over, over, unretried}},
		"done":                   {in(job.Done, false), answers{over, over, unretried}},
		"failed":                 {in(job.Failed, false), answers{over, over, ""}},
		"cancelled":              {in(job.Cancelled, false), answers{over, over, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for command, try := range map[string]struct {
				err  error
				want string
			}{
				"cancel": {with(tc.rec, func(r *job.Record) error { return r.Cancel("alice") }), tc.want.cancel},
				"stop":   {with(tc.rec, func(r *job.Record) error { return r.Stop("alice") }), tc.want.stop},
				"retry":  {with(tc.rec, (*job.Record).Retry), tc.want.retry},
			} {
				if try.want == "" {
					require.NoError(t, try.err, command)
					continue
				}
				require.ErrorContains(t, try.err, try.want, command)
				kind, _ := job.Classify(try.err)
				require.Equal(t, job.KindPermanent, kind, command)
			}
		})
	}
}

// with tries a command on a copy.
func with(rec job.Record, command func(*job.Record) error) error { return command(&rec) }

func TestAJobStopsEarlyIfItHasSomethingToKeep(t *testing.T) {
	t.Parallel()
	for kind, refused := range map[job.Work]string{
		job.Train: "", job.Script: "",
		job.Predict: "run ft-one is a prediction, which has nothing to keep before it ends: cancel it instead",
		job.Runs:    "run ft-one is a request, which has nothing to keep before it ends: cancel it instead",
	} {
		rec := job.Record{Run: "ft-one", Kind: kind, State: job.Running}
		err := rec.Stop("alice")
		if refused == "" {
			require.NoError(t, err, kind)
			require.Equal(t, "alice", rec.StoppedBy, kind)
			continue
		}
		require.EqualError(t, err, refused)
		outcome, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, outcome, kind)
		require.Empty(t, rec.StoppedBy, "it goes on")
	}
}

func TestTheFirstCommandIsTheOneThatIsNamed(t *testing.T) {
	t.Parallel()
	rec := in(job.Running, false)
	require.NoError(t, rec.Stop("alice"))
	require.NoError(t, rec.Stop("bob"))
	require.NoError(t, rec.Cancel("carol"), "who stopped a training may still want none of it")
	require.NoError(t, rec.Cancel("dave"))
	require.Equal(t, []string{"alice", "carol"}, []string{rec.StoppedBy, rec.CancelledBy})
	require.ErrorContains(t, rec.Stop("alice"), "is already being cancelled")
}

func TestARetryForgetsTheWishesOfTheTryBefore(t *testing.T) {
	t.Parallel()
	rec := in(job.Running, false)
	require.NoError(t, rec.Stop("alice"))
	require.NoError(t, rec.Cancel("alice"))
	rec.End(job.Cancelled, "Cancelled by alice")
	require.NoError(t, rec.Close())
	require.ErrorContains(t, rec.Retry(), "submit it again in Clowder", "the key went with the end")
	rec.SecretKey = "the key of who asks"
	require.NoError(t, rec.Retry())
	require.Equal(t, job.Accepted, rec.State)
	require.Equal(t, 2, rec.Attempt)
	require.Equal(t, []string{"", ""}, []string{rec.StoppedBy, rec.CancelledBy})
	require.Nil(t, rec.Ending)
}

// A page of a job shows other commands after each of these.
func TestEachChangeThatAPageShowsIsAnotherStanding(t *testing.T) {
	t.Parallel()
	rec := in(job.Running, false)
	seen := map[string]string{rec.Standing(): "running"}
	for _, change := range []struct {
		name string
		of   func(*job.Record) error
	}{
		{"asked to stop", func(r *job.Record) error { return r.Stop("alice@example.org") }},
		{"asked to cancel", func(r *job.Record) error { return r.Cancel("alice@example.org") }},
		{"its end is decided", func(r *job.Record) error { r.End(job.Cancelled, "Cancelled"); return nil }},
		{"over", (*job.Record).Close},
		{"another attempt", func(r *job.Record) error { r.SecretKey = "key"; return r.Retry() }},
	} {
		require.NoError(t, change.of(&rec), change.name)
		require.NotContains(t, seen, rec.Standing(), change.name)
		seen[rec.Standing()] = change.name
	}
}
