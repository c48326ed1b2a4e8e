package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// newer is the name of a run that was accepted after run.
const newer = "ft-newer"

func TestALateResultIsNotTheChampionOfANewerRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.ray.script = func(attempt string, _ int) rayjob.Observation {
			if rec := b.get(t, newer); attempt == "ft-one-a1" && rec.Active() {
				return rayjob.Observation{Verdict: rayjob.Running}
			}
			return rayjob.Observation{Verdict: rayjob.Succeeded}
		}
		b.accept(t, run, nil)
		<-time.After(time.Millisecond)
		b.accept(t, newer, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Equal(t, []string{newer, run}, b.platform.delivered)
		rec := b.get(t, run)
		v, err := model.Of(rec)
		require.NoError(t, err)
		require.False(t, v.Won())
		champion, err := b.registry.Champion(registry.Dataset{ID: rec.Request.DatasetID}, v.Name)
		require.NoError(t, err)
		require.Equal(t, newer, champion.Run)
	})
}
