package pipeline

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/text"
)

const run = "ft-one"

func TestAJobGoesFromAcceptedToDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.deliverer.BuildFiles = delivery.Build
		b.waitsAndTrains(t, 0, 5*time.Second)
		b.accept(t, run, map[string]any{"epochs": "2"})
		b.runUntilOver(t)

		rec := b.get(t, run)
		require.Equal(t, job.Done, rec.State)
		require.Regexp(t, `^Accuracy 0\.900 \(95 % interval 0\.780 to 0\.960\) on 40 held-out rows.*\. Results in folder x$`, rec.Ending.Text)
		require.Equal(t, []string{"ft-one-a1"}, b.ray.submits)
		require.Equal(t, []string{"ft-one-a1"}, b.ray.released)
		require.Equal(t, []string{run}, b.platform.delivered)
		var files []string
		for _, a := range b.platform.last.Artifacts {
			files = append(files, a.Name)
		}
		require.Subset(t, files, []string{"report.html", "model.zip", "metrics.json", "plots/loss.png"})
		require.Empty(t, rec.SecretKey.Reveal(), "the key is erased at the end")

		said := b.published.of(run)
		require.Equal(t, message.StatusStart, said[0].Kind)
		require.Equal(t, message.StatusDone, said[len(said)-1].Kind)
		require.Equal(t, []message.StatusKind{message.StatusStart, message.StatusProcessing, message.StatusDone}, b.published.kinds(run))
	})
}

func TestHowAJobEndsBadly(t *testing.T) {
	passing := job.Retryable(errors.New("Clowder does not answer"))
	for name, tc := range map[string]struct {
		parameters map[string]any
		arrange    func(b *bench)
		want       job.State
		text       string
		submits    int
	}{
		"a wrong setting": {
			parameters: map[string]any{"epochs": 0}, want: job.Failed, text: "epochs",
		},
		"an unknown task": {
			parameters: map[string]any{"task": "poetry"}, want: job.Failed, text: "task",
		},
		"a permanent error while staging": {
			arrange: func(b *bench) {
				b.platform.stage = func() error { return job.Permanent(errors.New("file a.csv has vanished: upload it again")) }
			}, want: job.Failed, text: "file a.csv has vanished: upload it again",
		},
		"a passing error that does not pass": {
			arrange: func(b *bench) { b.platform.stage = func() error { return passing } },
			want:    job.Failed, text: "Clowder does not answer (gave up after 3 attempts)",
		},
		"a panic in a stage": {
			arrange: func(b *bench) { b.platform.stage = func() error { panic("boom") } },
			want:    job.Failed, text: "an internal error ended this job",
		},
		"data that the trainer refuses": {
			arrange: func(b *bench) {
				b.ray.failure = &results.Failure{Code: "one_class", What: "Column label has one value only", Do: "Add rows of another class", User: true}
				b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: rayjob.Failed} }
			}, want: job.Failed, text: "Column label has one value only. Add rows of another class", submits: 1,
		},
		"a training that breaks again and again": {
			arrange: func(b *bench) {
				b.ray.failure = &results.Failure{Code: "internal", What: "The training broke", Do: "Tell the administrator"}
				b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: rayjob.Failed} }
			}, want: job.Failed, text: "The training broke (attempt 2 of 2)", submits: 2,
		},
		"a training that never starts": {
			arrange: func(b *bench) {
				b.ray.script = func(string, int) rayjob.Observation {
					return rayjob.Observation{Verdict: rayjob.Pending, Notice: "waiting for 1 CPU"}
				}
			}, want: job.Failed, text: "the training did not start on Ray within", submits: 1,
		},
		"a training that falls silent": {
			arrange: func(b *bench) {
				b.ray.silent = true
				b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: rayjob.Running} }
			}, want: job.Failed, text: "the training reported nothing for", submits: 2,
		},
		"a training that was stopped on Ray": {
			arrange: func(b *bench) {
				b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: rayjob.Stopped} }
			}, want: job.Cancelled, text: "stopped on the Ray cluster", submits: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				if tc.arrange != nil {
					tc.arrange(b)
				}
				b.accept(t, run, tc.parameters)
				b.runUntilOver(t)
				rec := b.get(t, run)
				require.Equal(t, tc.want, rec.State)
				require.Contains(t, rec.Ending.Text, tc.text)
				require.Len(t, b.ray.submits, tc.submits)
				require.Empty(t, b.platform.delivered, "nothing is uploaded")
				said := b.published.of(run)
				require.Equal(t, message.StatusError, said[len(said)-1].Kind)
				require.Equal(t, text.Capital(rec.Ending.Text), said[len(said)-1].Text)
			})
		})
	}
}

func TestALostTrainingThatWasFinishedIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: rayjob.Lost} }
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Len(t, b.ray.submits, 1)
	})
}

func TestAPassingErrorPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		failures := 2
		b.platform.stage = func() error {
			if failures--; failures >= 0 {
				return errors.New("connection refused")
			}
			return nil
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
	})
}

func TestACancellationByAnotherProcessEndsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.ray.script = func(_ string, look int) rayjob.Observation {
			if look == 5 {
				_, err := b.store.Change(t.Context(), run, func(r *job.Record) error { r.CancelledBy = "alice"; return nil })
				require.NoError(t, err)
			}
			return rayjob.Observation{Verdict: rayjob.Running}
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		rec := b.get(t, run)
		require.Equal(t, job.Cancelled, rec.State)
		require.Equal(t, "Cancelled by alice", rec.Ending.Text)
		require.Equal(t, []string{"ft-one-a1"}, b.ray.released, "the training is stopped")
	})
}

func TestARestartedServiceDoesNotRepeatItsLastWord(t *testing.T) {
	for name, tc := range map[string]struct {
		known platform.Known
		want  []message.StatusKind
	}{
		"it was told":     {platform.Known{Started: true, Ended: true}, nil},
		"it was not told": {platform.Known{Started: true}, []message.StatusKind{message.StatusDone}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.accept(t, run, nil)
				_, err := b.store.Change(t.Context(), run, func(r *job.Record) error {
					r.Advance(job.Uploaded)
					r.End(job.Done, "accuracy 0.9")
					r.StartSent = true
					return nil
				})
				require.NoError(t, err)
				b.platform.known = tc.known
				b.runUntilOver(t)
				require.Equal(t, job.Done, b.get(t, run).State)
				require.Equal(t, tc.want, b.published.kinds(run))
			})
		})
	}
}

func TestARestartedServiceDoesNotRepeatAGreetingThatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.accept(t, run, nil)
		b.platform.known = platform.Known{}
		stop := b.start(t)
		defer stop()
		<-time.After(10 * time.Second / 2)
		b.platform.mu.Lock()
		b.platform.known = platform.Known{Started: true}
		b.platform.mu.Unlock()
		require.Eventually(t, func() bool { return b.get(t, run).State == job.Done }, time.Hour, time.Second)
		require.NotContains(t, b.published.kinds(run), message.StatusStart)
		require.True(t, b.get(t, run).StartSent)
	})
}

func TestAStopIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: rayjob.Running} }
		b.accept(t, run, nil)
		stopAfter(t, b, 10*time.Second)
		rec := b.get(t, run)
		require.Equal(t, job.Running, rec.State)
		require.Zero(t, rec.Failures)
		require.Empty(t, b.ray.released, "the training goes on")

		again := setupOn(t, b.dir, b.store)
		again.ray.jobs["ft-one-a1"] = rayjob.Running
		again.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Empty(t, again.ray.submits, "the running attempt is found again")
		require.NotContains(t, again.published.kinds(run), message.StatusStart, "the first status is sent once")
	})
}
