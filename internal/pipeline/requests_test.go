package pipeline

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// asked is the run name of a request about other runs.
const asked = "ft-request"

// ask stores a request about other runs of the dataset, as the intake does.
func (b *bench) ask(t *testing.T, parameters map[string]any) {
	t.Helper()
	rec := jobtest.Record(asked, "h2")
	rec.Request.JobID, rec.Kind, rec.Request.Extractor, rec.Request.Parameters = strings.Repeat("b", 24), job.Runs, "ncsa.ray.runs", parameters
	_, _, err := b.store.Accept(t.Context(), rec)
	require.NoError(t, err)
}

// trainsUntilAsked has the run train on, and makes the request at the given look.
func (b *bench) trainsUntilAsked(t *testing.T, parameters map[string]any) {
	t.Helper()
	h := b.hook()
	h.look = func(n int) rayjob.Verdict {
		if n == 3 {
			b.ask(t, parameters)
		}
		if b.stops(t) {
			return rayjob.Succeeded
		}
		return rayjob.Running
	}
}

func TestARunIsCancelledThroughClowder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.trainsUntilAsked(t, map[string]any{"action": "cancel"})
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Cancelled, b.get(t, run).State)
		require.Equal(t, "Cancelled by alice", b.get(t, run).Ending.Text)
		require.Equal(t, job.Done, b.get(t, asked).State)
		require.Equal(t, "Run ft-one was cancelled", b.get(t, asked).Ending.Text)
		require.Equal(t, []message.StatusKind{message.StatusStart, message.StatusDone}, b.published.kinds(asked))
		require.Equal(t, []string{"ft-one-a1"}, b.ray.released)
		require.Empty(t, b.get(t, asked).SecretKey.Reveal())
	})
}

func TestARunIsStoppedThroughClowderAndKeepsItsModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.trainsUntilAsked(t, map[string]any{"action": "stop and keep", "run": "ft-one"})
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Contains(t, b.get(t, run).Ending.Text, "Stopped early by alice. Accuracy")
		require.Equal(t, job.Done, b.get(t, asked).State)
		require.Contains(t, b.get(t, asked).Ending.Text, "Run ft-one will stop after this step")
	})
}

func TestARetriedRunGoesOnInTheJobThatAskedForIt(t *testing.T) {
	for _, end := range []job.State{job.Failed, job.Cancelled} {
		t.Run(string(end), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.accept(t, run, nil)
				_, err := b.store.Change(t.Context(), run, func(r *job.Record) error {
					r.End(end, "it came to an end")
					r.SecretKey = ""
					return r.Close()
				})
				require.NoError(t, err)
				began := time.Now()
				b.ray.script = func(string, int) rayjob.Observation {
					if time.Since(began) < 5*time.Second {
						return rayjob.Observation{Verdict: rayjob.Running}
					}
					return rayjob.Observation{Verdict: rayjob.Succeeded}
				}
				b.ask(t, map[string]any{"action": "retry"})
				b.runUntilOver(t)

				rec := b.get(t, run)
				require.Equal(t, job.Done, rec.State)
				require.Equal(t, 2, rec.Attempt)
				require.Equal(t, strings.Repeat("b", 24), rec.Request.JobID)
				require.Equal(t, []string{"ft-one-a2"}, b.ray.submits)
				require.Equal(t, []message.StatusKind{message.StatusStart}, b.published.kinds(asked), "its last word is the run's")
				require.Equal(t, []message.StatusKind{message.StatusProcessing, message.StatusDone}, b.published.kinds(run))
				first, second := b.published.of(asked)[0], b.published.of(run)[0]
				require.GreaterOrEqual(t, second.At.Sub(first.At), time.Second, "Clowder mixes up what comes close together")
				require.Less(t, second.At.Sub(first.At), 5*time.Second, "the user does not wait for the next write of the record")
			})
		})
	}
}

// TestARequestThatIsBegunAgain meets what it has done before the service was killed.
func TestARequestThatIsBegunAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		action  string
		arrange func(r *job.Record)
		want    string
	}{
		"a cancellation": {"cancel", func(r *job.Record) {
			r.CancelledBy = "alice"
			r.End(job.Cancelled, "Cancelled by alice")
			r.Advance(job.Cancelled)
		}, "Run ft-one was cancelled"},
		"a stop":  {"stop and keep", func(r *job.Record) { r.StoppedBy = "alice"; r.End(job.Done, "x"); r.Advance(job.Done) }, "will stop after this step"},
		"a retry": {"retry", func(r *job.Record) { r.Request.JobID = strings.Repeat("b", 24); r.Advance(job.Done) }, "Run ft-one continues here"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.accept(t, run, nil)
				before, err := b.store.Change(t.Context(), run, func(r *job.Record) error { tc.arrange(r); return nil })
				require.NoError(t, err)
				b.ask(t, nil)
				_, err = b.store.Change(t.Context(), asked, func(r *job.Record) error {
					r.Target, r.Settings = run, job.NewSettings(map[string]any{"action": tc.action, "run": ""})
					r.Advance(job.Staged)
					return nil
				})
				require.NoError(t, err)
				b.runUntilOver(t)
				require.Equal(t, job.Done, b.get(t, asked).State)
				require.Contains(t, b.get(t, asked).Ending.Text, tc.want)
				require.Equal(t, before.Version, b.get(t, run).Version, "nothing is done twice")
			})
		})
	}
}

// finishedPrediction stores one that is newer than the run.
func (b *bench) finishedPrediction(t *testing.T) {
	t.Helper()
	rec := jobtest.Record("ft-answers", "h4")
	rec.Kind, rec.Request.Extractor, rec.State = job.Predict, "ncsa.ray.predict", job.Done
	_, _, err := b.store.Accept(t.Context(), rec)
	require.NoError(t, err)
}

func TestWhatARequestCannotDo(t *testing.T) {
	for name, tc := range map[string]struct {
		parameters map[string]any
		denied     bool
		none       bool
		want       string
	}{
		"no run at all":                {map[string]any{"action": "cancel"}, false, true, "this dataset has no runs yet: there is nothing to cancel"},
		"a run that nobody knows":      {map[string]any{"action": "cancel", "run": "ft-other"}, false, false, `this dataset has no run "ft-other"`},
		"a run of somebody else":       {map[string]any{"action": "cancel"}, true, false, "it was started by bob"},
		"a retry of a run that is on":  {map[string]any{"action": "retry"}, false, false, "only a failed or cancelled job can be retried"},
		"a stop before there is a run": {map[string]any{"action": "stop and keep"}, false, false, "there is nothing to keep"},
		"a stop of a prediction":       {map[string]any{"action": "stop and keep", "run": "ft-answers"}, false, false, "is a prediction"},
		"another action":               {map[string]any{"action": "destroy"}, false, false, "action must be one of list, cancel"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.denied = tc.denied
				if !tc.none {
					b.accept(t, run, nil)
					_, err := b.store.Change(t.Context(), run, func(r *job.Record) error { r.Postpone(time.Now().Add(time.Minute), "later"); return nil })
					require.NoError(t, err)
					<-time.After(time.Millisecond)
					b.finishedPrediction(t)
				}
				b.ask(t, tc.parameters)
				b.runUntilOver(t)
				require.Equal(t, job.Failed, b.get(t, asked).State)
				require.Contains(t, b.get(t, asked).Ending.Text, tc.want)
				require.True(t, b.get(t, asked).Ending.BadInput)
				if !tc.none {
					require.Equal(t, job.Done, b.get(t, run).State, "the run goes on")
				}
			})
		})
	}
}

func TestTheRunsOfADatasetAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.readable = strings.Repeat("d", 24)
		for i, name := range []string{"ft-a", "ft-b", "ft-c", "ft-d", "ft-e", "ft-f", "ft-g"} {
			<-time.After(time.Minute)
			b.accept(t, name, nil)
			_, err := b.store.Change(t.Context(), name, func(r *job.Record) error {
				r.Settings = job.NewSettings(map[string]any{"run_name": "try " + name})
				if i > 0 {
					r.End(job.Done, "Accuracy 0.9")
					return r.Close()
				}
				r.End(job.Failed, "no table")
				return r.Close()
			})
			require.NoError(t, err)
		}
		other := jobtest.Record("ft-elsewhere", "h3")
		other.Request.DatasetID = strings.Repeat("e", 24)
		_, _, err := b.store.Accept(t.Context(), other)
		require.NoError(t, err)
		b.accept(t, run, nil)
		_, err = b.store.Change(t.Context(), run, func(r *job.Record) error { r.Postpone(time.Now().Add(stage.MaxPause), "later"); return nil })
		require.NoError(t, err)
		b.ask(t, nil)
		stopAfter(t, b, time.Minute)

		said := texts(b.published.of(asked))
		require.Equal(t, []string{
			`Training ft-c "try ft-c", 2000-01-01 00:03 UTC, done: Accuracy 0.9`,
			`Training ft-d "try ft-d", 2000-01-01 00:04 UTC, done: Accuracy 0.9`,
			`Training ft-e "try ft-e", 2000-01-01 00:05 UTC, done: Accuracy 0.9`,
			`Training ft-f "try ft-f", 2000-01-01 00:06 UTC, done: Accuracy 0.9`,
			`Training ft-g "try ft-g", 2000-01-01 00:07 UTC, done: Accuracy 0.9`,
		}, said[1:6])
		require.Contains(t, said[6], "Training ft-one, 2000-01-01 00:07 UTC, being prepared")
		require.Equal(t, "8 runs in this dataset: 1 being prepared, 6 done, 1 failed; the newest 6 are listed", said[7])
	})
}
