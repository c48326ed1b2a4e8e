package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
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
		v, err := modelOf(rec)
		require.NoError(t, err)
		require.False(t, v.Won())
		champion, err := b.registry.Champion(registry.Dataset{ID: rec.Request.DatasetID}, v.Name)
		require.NoError(t, err)
		require.Equal(t, newer, champion.Run)
	})
}

// delivered names everything that the user finds in the dataset.
func (d *delivery) delivered(t *testing.T) (all []string) {
	t.Helper()
	s, dataset := d.client.As(d.rec.SecretKey), d.rec.Request.DatasetID
	files, err := s.Files(t.Context(), dataset)
	require.NoError(t, err)
	for _, f := range files {
		all = append(all, "file "+f.ID+" "+f.Path)
	}
	shown, err := s.Visualizations(t.Context(), dataset)
	require.NoError(t, err)
	for _, v := range shown {
		all = append(all, append([]string{"visualization " + v.ConfigID}, v.DataIDs...)...)
	}
	notes, err := s.Metadata(t.Context(), dataset)
	require.NoError(t, err)
	for _, n := range notes {
		all = append(all, "metadata "+n.ID)
	}
	return all
}

func TestALateDeliveryLeavesWhatANewerRunDelivered(t *testing.T) {
	t.Parallel()
	older := newDelivery(t, alice)
	next := *older
	next.rec.Run, next.dir = newer, t.TempDir()
	require.NoError(t, resultstest.Play(next.dir, newer, 1))
	require.NoError(t, next.deliver(t, "1", 0))
	before := next.delivered(t)
	require.NotEmpty(t, before)
	require.NoError(t, older.deliver(t, "1", 0))
	after := older.delivered(t)
	require.Subset(t, after, before)
	require.Len(t, after, 2*len(before))
}
