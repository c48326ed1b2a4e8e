package pipeline

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/queue"
)

func TestAJobOfWhichTooMuchMustBeRememberedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.accept(t, run, nil)
		huge := json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)
		apply := func(r *job.Record) error { r.Model = huge; r.Advance(job.Staged); return nil }
		next, wait := b.settle(t.Context(), b.get(t, run), stage{}, apply, nil)
		require.Zero(t, wait)
		require.Contains(t, next.Ending.Text, "what must be remembered of this job is too large (2.1 MB, at most 1.0 MB are kept)")
		b.runUntilOver(t)
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

		in := NewIntake(b.Pipeline, b.cfg.Extractors[0], nil, 2)
		req := rec.Request
		req.Parameters = map[string]any{"epochs": "2"}
		require.NoError(t, in.repeated(t.Context(), &queue.Delivery{}, rec, req, "key"))
		b.runUntilOver(t)
		rec = b.get(t, run)
		require.Equal(t, job.Done, rec.State, "the message, published again, brings its parameters")
		require.EqualValues(t, 2, rec.Settings.Values["epochs"])
	})
}
