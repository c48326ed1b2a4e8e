package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/intake"
	"github.com/ncsa/clowder-ray/internal/platform"
)

const quietPeriod = 5 * time.Minute

// automatic adds the extractor that hears of new files.
func automatic(c *Config) {
	c.AutomaticAfter = quietPeriod
	predict := c.Extractors[2]
	c.Extractors = append(c.Extractors, platform.Extractor{Kind: job.Predict, Info: predict.Info.ForNewFiles(), Queue: form.NewFiles, Automatic: true})
}

// added is the announcement of one file of a user.
func (b *bench) added(t *testing.T, in *intake.Announcements, user string, file int, redelivered bool) (job.Record, intake.Entry) {
	t.Helper()
	req := jobtest.Record("ft", strconv.Itoa(file)).Request
	req.JobID = fmt.Sprintf("%024d", file)
	req.Key, req.Kind, req.ResourceID, req.Extractor, req.Parameters = req.JobID, job.File, fmt.Sprintf("f%023d", file), form.NewFiles, nil
	req.Announced = []job.Announced{{File: req.ResourceID, JobID: req.JobID}}
	rec, entry, err := in.Add(t.Context(), req, job.Secret("key of "+user), redelivered)
	require.NoError(t, err)
	if entry == intake.Begins || entry == intake.Joined {
		b.slots.Active(rec.Kind).Add(rec.Run, rec.Owner)
		b.loop.Delay(rec)
	}
	return rec, entry
}

// automaticBench is a pipeline whose dataset has a model.
func automaticBench(t *testing.T) (*bench, *intake.Announcements) {
	t.Helper()
	b := setup(t, automatic)
	own := jobtest.Record(run, "h").Request.DatasetID
	b.register(t, own, "films", "ft-old")
	b.register(t, own, "films", "ft-new")
	return b, b.intakes.Announcements(b.cfg.Extractors[len(b.cfg.Extractors)-1])
}

func TestABurstOfFilesIsOneRunAfterTheQuietPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, in := automaticBench(t)
		stop := b.start(t)
		defer stop()
		first, entry := b.added(t, in, "alice", 0, false)
		require.Equal(t, intake.Begins, entry)
		for i := 1; i < 10; i++ {
			<-time.After(time.Minute)
			rec, entry := b.added(t, in, "alice", i, false)
			require.Equal(t, intake.Joined, entry)
			require.Equal(t, first.Run, rec.Run)
		}
		require.Equal(t, 4, b.slots.Free(job.Predict), "a run that waits takes no slot")
		<-time.After(quietPeriod - time.Second)
		require.Equal(t, job.Accepted, b.get(t, first.Run).State, "not before the period has passed since the last file")
		require.Empty(t, b.published.of(first.Run), "nothing is said before")
		<-time.After(time.Minute)
		done := b.get(t, first.Run)
		require.Equal(t, job.Done, done.State)
		require.Len(t, done.Request.Announced, 10)
		spec, err := os.ReadFile(filepath.Join(b.cfg.Volume.Run(first.Run).Path(), "spec.json"))
		require.NoError(t, err)
		require.Contains(t, string(spec), "/films/1/model", "with the champion, which is not the newest")
		require.Equal(t, []string{first.Run}, b.platform.newsOf, "once")
		next, entry := b.added(t, in, "alice", 10, false)
		require.Equal(t, intake.Begins, entry, "a file that comes later begins another run")
		require.NotEqual(t, first.Run, next.Run)
	})
}

func TestAnAutomaticRunIsOfOneUserAndOneDataset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, in := automaticBench(t)
		one, _ := b.added(t, in, "alice", 0, false)
		other, entry := b.added(t, in, "bob", 1, false)
		require.Equal(t, intake.Begins, entry)
		require.NotEqual(t, one.Owner, other.Owner, "each with the key of its messages")
		require.Equal(t, "key of bob", b.get(t, other.Run).SecretKey.Reveal())
	})
}

func TestTheFilesOfAnAutomaticRunOutliveAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, in := automaticBench(t)
		stop := b.start(t)
		first, _ := b.added(t, in, "alice", 0, false)
		<-time.After(time.Minute)
		b.added(t, in, "alice", 1, false)
		stop()
		again := setupOn(t, b.dir, b.store, automatic)
		in = again.intakes.Announcements(again.cfg.Extractors[len(again.cfg.Extractors)-1])
		stop = again.start(t)
		defer stop()
		for i, want := range []intake.Entry{intake.Known, intake.Held} {
			rec, entry := again.added(t, in, "alice", i, true)
			require.Equal(t, want, entry, "what the broker delivers again changes nothing")
			require.Equal(t, first.Run, rec.Run)
		}
		<-time.After(quietPeriod - 2*time.Second)
		require.Equal(t, job.Accepted, again.get(t, first.Run).State)
		<-time.After(time.Minute)
		require.Equal(t, job.Done, again.get(t, first.Run).State)
		_, entry := again.added(t, in, "alice", 1, true)
		require.Equal(t, intake.Held, entry, "also after the run")
	})
}

func TestAFileThatComesWhileItsRunBeginsIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, in := automaticBench(t)
		late := 0
		b.platform.stage = func() error {
			if late++; late == 1 {
				_, entry := b.added(t, in, "alice", 1, false)
				require.Equal(t, intake.Joined, entry)
			}
			return nil
		}
		stop := b.start(t)
		defer stop()
		first, _ := b.added(t, in, "alice", 0, false)
		<-time.After(quietPeriod + time.Minute)
		require.Equal(t, job.Accepted, b.get(t, first.Run).State, "it waits again")
		<-time.After(quietPeriod)
		done := b.get(t, first.Run)
		require.Equal(t, job.Done, done.State)
		require.Len(t, done.Request.Announced, 2)
		require.Equal(t, 2, late)
	})
}

func TestAnAutomaticRunWithNothingToDoIsSkipped(t *testing.T) {
	for name, tc := range map[string]struct {
		alter func(b *bench)
		want  string
	}{
		"not asked for":          {func(b *bench) { b.platform.noNews = "The dataset asks for nothing" }, "The dataset asks for nothing"},
		"without a model":        {func(b *bench) { _ = os.RemoveAll(b.cfg.Volume.Registry().Path()) }, "This dataset has no model yet: train one first, enter the model of another dataset, or choose a model file"},
		"where it is turned off": {func(b *bench) { b.stager.Extractors = b.cfg.Extractors[:5] }, "Automatic runs were switched off: to predict the files, submit the dataset to ncsa.ray.predict"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, in := automaticBench(t)
				tc.alter(b)
				stop := b.start(t)
				defer stop()
				rec, _ := b.added(t, in, "alice", 0, false)
				<-time.After(quietPeriod + time.Minute)
				done := b.get(t, rec.Run)
				require.Equal(t, job.Skipped, done.State)
				require.Equal(t, tc.want, done.Ending.Text)
				require.Empty(t, b.submitted())
				require.Empty(t, done.SecretKey, "its key is erased")
			})
		})
	}
}

func TestAWaitingAutomaticRunCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, in := automaticBench(t)
		stop := b.start(t)
		defer stop()
		rec, _ := b.added(t, in, "alice", 0, false)
		_, err := b.store.Change(t.Context(), rec.Run, func(r *job.Record) error { return r.Cancel("alice") })
		require.NoError(t, err)
		_, entry := b.added(t, in, "alice", 1, false)
		require.Equal(t, intake.Begins, entry, "a later file does not join it")
		<-time.After(10 * time.Second)
		require.Equal(t, job.Cancelled, b.get(t, rec.Run).State)
	})
}
