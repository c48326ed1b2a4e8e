package pipeline

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
)

func TestAJobOfWhichTooMuchMustBeRememberedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		huge := json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)
		b.loop.Stages.Jobs[0].Run = func(context.Context, job.Record) (stage.Change, error) {
			return func(r *job.Record) error { r.Model = huge; r.Advance(job.Staged); return nil }, nil
		}
		b.accept(t, run, nil)
		began := time.Now()
		b.runUntilOver(t)
		require.Less(t, time.Since(began), 5*time.Second, "at once")
		require.Contains(t, b.get(t, run).Ending.Text, "what must be remembered of this job is too large (2.1 MB, at most 1.0 MB are kept)")
		require.Equal(t, job.Failed, b.get(t, run).State)
	})
}

func TestAJobWhoseRecordWasMadeSmallerEndsAndItsAttemptIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.accept(t, run, nil)
		_, err := b.store.Change(t.Context(), run, func(r *job.Record) error { // as job.SQLite leaves it
			r.Handle, r.StartSent, r.Trimmed = &job.Handle{Backend: "fake", ID: "ft-one-a1"}, true, true
			r.Request.Parameters = nil
			r.Advance(job.Running)
			r.End(job.Failed, "the parameters of this request are too large")
			return nil
		})
		require.NoError(t, err)
		b.runUntilOver(t)
		rec := b.get(t, run)
		require.Equal(t, job.Failed, rec.State)
		require.Equal(t, []string{"ft-one-a1"}, b.ray.released)
		said := b.published.of(run)
		require.Equal(t, message.StatusError, said[len(said)-1].Kind)
		require.Equal(t, "The parameters of this request are too large", said[len(said)-1].Text)

		rec, err = b.store.Change(t.Context(), run, func(r *job.Record) error { // as the intake does with the message, published again
			r.SecretKey, r.Request.Parameters, r.Trimmed = "key", map[string]any{"epochs": "2"}, false
			return r.Retry()
		})
		require.NoError(t, err)
		b.loop.Begin(rec)
		b.runUntilOver(t)
		rec = b.get(t, run)
		require.Equal(t, job.Done, rec.State, "the message, published again, brings its parameters")
		require.EqualValues(t, 2, rec.Settings.Values["epochs"])
	})
}
