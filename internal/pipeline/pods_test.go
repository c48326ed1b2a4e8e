package pipeline

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

// What Ray is told to show an attempt is what its spec.json names, and the run folder is open to the group in which the pods are.
func TestASubmissionPreparesTheVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checks := 0
		b := setup(t, func(c *Config) { c.CheckTrainer = func() error { checks++; return nil } })
		own := jobtest.Record(run, "h").Request.DatasetID
		b.register(t, own, "films", "ft-old")
		b.register(t, own, "birds", "ft-other")
		b.acceptPrediction(t, map[string]any{"model": "films"})
		b.runUntilOver(t)
		require.Equal(t, [][]string{{"models", "registry/" + own + "/films/1/model"}}, b.ray.reads)
		require.Equal(t, 1, checks)
		info, err := os.Stat(b.cfg.Volume.Run(run).Path())
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o070), info.Mode()&0o070)
	})
}

// A trainer that others have changed and that cannot be brought back runs in no job: jobs wait for the operator.
func TestNothingIsSubmittedWithADamagedTrainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.CheckTrainer = func() error { return errors.New("the file run.py was changed") } })
		b.accept(t, run, nil)
		stopAfter(t, b, 10*time.Minute)
		require.Empty(t, b.ray.submits)
		require.Contains(t, b.get(t, run).LastError, "the trainer cannot be installed or checked: the file run.py was changed")
		for _, s := range b.published.of(run) {
			require.NotContains(t, s.Text, "run.py", "the sentence is for the operator")
		}
		repaired := setupOn(t, b.dir, b.store)
		repaired.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Len(t, repaired.ray.submits, 1)
	})
}
