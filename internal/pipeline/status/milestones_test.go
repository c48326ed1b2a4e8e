package status

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

// quietClowder shows nothing of a job.
type quietClowder struct{}

func (quietClowder) Abilities(req job.Request) ability.Set { return versions.Of(req.APIVersion).Set }

func (quietClowder) Known(context.Context, job.Record) (platform.Known, error) {
	return platform.Known{Complete: true}, nil
}

func newMilestones(t *testing.T, records Records) *Milestones {
	t.Helper()
	return NewMilestones(MilestonesConfig{
		Publisher: &recordingPublisher{}, Platform: quietClowder{}, Records: records, Extractors: platformtest.Extractors(t),
		Page: func(job.Record) string { return "" }, Wake: func(string) {}, Log: zap.NewNop(),
	})
}

func TestTheFirstStatusDependsOnWhatClowderCanDo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version    int
		waits, how bool
	}{
		"a Clowder that confirms statuses":            {2, true, false},
		"a Clowder whose button reaches only a queue": {1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMilestones(t, nil)
			rec := jobtest.Record("ft-one", "h1")
			rec.Request.APIVersion = tc.version
			m.SendStart(t.Context(), rec, false)
			require.Equal(t, tc.waits, m.starts.confirm("ft-one", time.Now()), "the next change of the record takes the news")
			require.Equal(t, tc.how, strings.Contains(m.LastText("ft-one"), ". To stop the job, submit the dataset to ncsa.ray.runs"))
		})
	}
}

func TestTheFirstStatusIsNotedLaterAtMost(t *testing.T) {
	t.Parallel()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	_, _, err = store.Accept(t.Context(), jobtest.Record("ft-one", "h1"))
	require.NoError(t, err)
	sent := func() bool {
		rec, err := store.Get(t.Context(), "ft-one")
		require.NoError(t, err)
		return rec.StartSent
	}
	m := newMilestones(t, store)
	now := time.Now()
	require.False(t, m.starts.confirm("ft-one", now), "it is written at once where Clowder cannot confirm it")
	m.starts.expect("ft-one")
	require.True(t, m.starts.confirmed("ft-one").IsZero())
	require.True(t, m.starts.confirm("ft-one", now))
	require.False(t, m.starts.confirmed("ft-one").IsZero())
	m.noteStarts(t.Context(), now)
	require.False(t, sent(), "it may still go with another change")
	m.noteStarts(t.Context(), now.Add(time.Second))
	require.True(t, sent())
	require.True(t, m.starts.confirmed("ft-one").IsZero())
	m.noteStarts(t.Context(), now.Add(time.Hour))
	require.Empty(t, m.starts.sent)
}

func TestTheStatusOfALostJobIsNotRepeatedWhereItsConfirmIsLost(t *testing.T) {
	t.Parallel()
	require.True(t, newMilestones(t, nil).isDelivered(t.Context(), LostRun+"ft-one", message.StatusError))
}
