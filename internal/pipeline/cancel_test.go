package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// hooks run a test's code in the middle of what the doubles do for the run that is cancelled.
type hooks struct {
	*fakePlatform
	*fakeRay
	download func(ctx context.Context) error
	submit   func()
	look     func(n int) rayjob.Verdict
	deliver  func()
}

func (h *hooks) Stage(ctx context.Context, rec job.Record, dir disk.Folder, say platform.Say) ([]job.Input, []job.NotRead, error) {
	if h.download != nil {
		if err := h.download(ctx); err != nil {
			return nil, nil, err
		}
	}
	return h.fakePlatform.Stage(ctx, rec, dir, say)
}

func (h *hooks) Deliver(ctx context.Context, rec job.Record, d platform.Delivery, l platform.LedgerFile, say func(string)) (string, error) {
	if h.deliver != nil {
		h.deliver()
	}
	return h.fakePlatform.Deliver(ctx, rec, d, l, say)
}

func (h *hooks) Submit(ctx context.Context, a rayjob.Attempt) (rayjob.Handle, error) {
	handle, err := h.fakeRay.Submit(ctx, a)
	if h.submit != nil {
		h.submit()
	}
	return handle, err
}

func (h *hooks) Observe(context.Context, rayjob.Handle, time.Duration) (rayjob.Observation, error) {
	h.fakeRay.mu.Lock()
	h.observed++
	n := h.observed
	h.fakeRay.mu.Unlock()
	if h.look != nil {
		return rayjob.Observation{Verdict: h.look(n)}, nil
	}
	return rayjob.Observation{Verdict: rayjob.Succeeded}, nil
}

// hook puts hooks between a pipeline and its doubles.
func (b *bench) hook() *hooks {
	h := &hooks{fakePlatform: b.platform, fakeRay: b.ray}
	b.source.Platform, b.backend.Backend = h, h
	return h
}

// While the result of a script or of a check is built, the record does not say yet that the attempt has succeeded, so that it can still be
// cancelled. Before a model is registered it says so.
func TestACancellationWhileResultsAreBuilt(t *testing.T) {
	for name, tc := range map[string]struct {
		accept  func(t *testing.T, b *bench)
		refused bool
		state   job.State
	}{
		"of a script":                       {func(t *testing.T, b *bench) { t.Helper(); b.acceptScript(t, nil) }, false, job.Cancelled},
		"of a training":                     {func(t *testing.T, b *bench) { t.Helper(); b.accept(t, run, nil) }, true, job.Done},
		"of a training in place of a check": {func(t *testing.T, b *bench) { t.Helper(); b.accept(t, run, map[string]any{"dry_run": true}) }, true, job.Done},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				var refused error
				cancel := b.cancelFrom(t, &refused)
				b.deliverer.BuildFiles = func(ctx context.Context, run, to disk.Folder, r *results.Result, m manifest.Meta) ([]delivery.Artifact, error) {
					cancel()
					return buildOne(ctx, run, to, r, m)
				}
				tc.accept(t, b)
				b.runUntilOver(t)
				require.Equal(t, tc.refused, refused != nil)
				require.Equal(t, tc.state, b.get(t, run).State)
				require.Equal(t, tc.refused, len(b.platform.delivered) == 1)
			})
		})
	}
}

// cancelFrom cancels the run as another process does, and remembers whether that was still possible.
func (b *bench) cancelFrom(t *testing.T, refused *error) func() {
	t.Helper()
	return func() {
		_, *refused = b.store.Change(t.Context(), run, func(r *job.Record) error { return r.Cancel("alice") })
	}
}

func TestACancellationAtAnyMomentEndsInOneWord(t *testing.T) {
	const hour = time.Hour
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, h *hooks, cancel func())
		late    bool // the results are on their way
		within  time.Duration
	}{
		"while the files are downloaded": {within: 10 * time.Second, arrange: func(_ *testing.T, h *hooks, cancel func()) {
			h.download = func(ctx context.Context) error {
				cancel()
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(hour):
					return nil
				}
			}
		}},
		"while the training is submitted": {within: 10 * time.Second, arrange: func(_ *testing.T, h *hooks, cancel func()) { h.submit = cancel }},
		"while Ray has no room": {within: 10 * time.Second, arrange: func(_ *testing.T, h *hooks, cancel func()) {
			h.look = func(n int) rayjob.Verdict {
				if n == 2 {
					cancel()
				}
				return rayjob.Pending
			}
		}},
		"while it trains, twice": {within: 20 * time.Second, arrange: func(_ *testing.T, h *hooks, cancel func()) {
			h.look = func(n int) rayjob.Verdict {
				if n == 4 {
					cancel()
					cancel()
				}
				return rayjob.Running
			}
		}},
		"at the moment at which it breaks": {within: 20 * time.Second, arrange: func(_ *testing.T, h *hooks, cancel func()) {
			h.look = func(int) rayjob.Verdict { cancel(); return rayjob.Failed }
		}},
		"at the moment at which it succeeds": {within: 20 * time.Second, arrange: func(_ *testing.T, h *hooks, cancel func()) {
			h.look = func(int) rayjob.Verdict { cancel(); return rayjob.Succeeded }
		}},
		"while the results are uploaded": {late: true, arrange: func(_ *testing.T, h *hooks, cancel func()) { h.deliver = cancel }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				var refused error
				tc.arrange(t, b.hook(), b.cancelFrom(t, &refused))
				b.accept(t, run, nil)
				began := time.Now()
				b.runUntilOver(t)
				rec := b.get(t, run)

				said := b.published.of(run)
				terminal := 0
				for _, s := range said {
					if s.Kind.Terminal() {
						terminal++
					}
				}
				require.Equal(t, 1, terminal, "%v", said)
				require.True(t, said[len(said)-1].Kind.Terminal())
				require.Equal(t, b.ray.submits, b.ray.released, "nothing is left on Ray")
				versions, err := b.registry.All(registry.Dataset{ID: rec.Request.DatasetID})
				require.NoError(t, err)
				if tc.late {
					require.ErrorContains(t, refused, "saving its results")
					require.Equal(t, job.Done, rec.State)
					require.Len(t, b.platform.delivered, 1)
					return
				}
				require.NoError(t, refused)
				require.Equal(t, job.Cancelled, rec.State)
				require.Equal(t, message.StatusError, said[len(said)-1].Kind)
				require.Equal(t, "Cancelled by alice", said[len(said)-1].Text)
				require.Empty(t, b.platform.delivered, "a cancelled run leaves nothing in the dataset")
				require.Empty(t, versions, "nor a model")
				require.Less(t, time.Since(began), tc.within)
			})
		})
	}
}

func TestACancellationAfterAKillFindsWhatWasSubmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.accept(t, run, nil)
		_, err := b.store.Change(t.Context(), run, func(r *job.Record) error { // the kill came before the record knew of the attempt
			r.Advance(job.Staged)
			return r.Cancel("alice")
		})
		require.NoError(t, err)
		b.ray.jobs["ft-one-a1"] = rayjob.Running
		b.runUntilOver(t)
		require.Equal(t, job.Cancelled, b.get(t, run).State)
		require.Equal(t, []string{"ft-one-a1"}, b.ray.released)
	})
}

func TestACancellationDoesNotWaitForASettingOfRay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		h := b.hook()
		b.backend.Backend = brokenRay{h}
		h.look = func(n int) rayjob.Verdict {
			if n == 2 {
				b.cancelFrom(t, new(error))()
			}
			return rayjob.Running
		}
		b.accept(t, run, nil)
		began := time.Now()
		b.runUntilOver(t)
		require.Equal(t, job.Cancelled, b.get(t, run).State)
		require.Less(t, time.Since(began), time.Minute, "the user hears of it although nothing can be stopped on Ray")
	})
}

// brokenRay releases nothing until the operator corrects a setting.
type brokenRay struct{ *hooks }

func (brokenRay) Release(context.Context, rayjob.Handle) error {
	return job.Later(time.Minute, &rayjob.SettingError{Setting: "RAY_AUTH_TOKEN", Text: "RAY_AUTH_TOKEN: Ray refuses the token"})
}

// stops says whether the training of the run is told to stop, and plays its end if so.
func (b *bench) stops(t *testing.T) bool {
	t.Helper()
	dir := b.cfg.Volume.Run(run).Path()
	told, err := os.ReadFile(filepath.Join(dir, "stop"))
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	require.NoError(t, err)
	require.Equal(t, "keep\n", string(told))
	require.NoError(t, resultstest.Play(dir, run, 1))
	return true
}

func TestATrainingThatIsStoppedKeepsWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		h := b.hook()
		h.look = func(n int) rayjob.Verdict {
			if n == 4 {
				for _, by := range []string{"alice", "bob"} {
					_, err := b.store.Change(t.Context(), run, func(r *job.Record) error { return r.Stop(by) })
					require.NoError(t, err)
				}
			}
			if b.stops(t) {
				return rayjob.Succeeded
			}
			return rayjob.Running
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		rec := b.get(t, run)
		require.Equal(t, job.Done, rec.State)
		require.Regexp(t, `^Stopped early by alice\. Accuracy 0\.900 .*Results in folder x$`, rec.Ending.Text)
		require.Len(t, b.platform.delivered, 1)
		require.Contains(t, texts(b.published.of(run)), "Stopping early because alice asked for it; the best model so far is kept")
	})
}

func TestAPersonStopsAndCancelsARunWithoutARequestInClowder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.stager.NoteUsers = true
		h := b.hook()
		h.look = func(n int) rayjob.Verdict {
			switch n {
			case 3:
				require.NoError(t, b.Stop(t.Context(), run, "bob"))
			case 4:
				require.NoError(t, b.Cancel(t.Context(), run, "carol"))
				require.ErrorContains(t, b.Stop(t.Context(), run, "dave"), "already being cancelled")
			}
			return rayjob.Running
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		rec := b.get(t, run)
		require.Equal(t, job.Cancelled, rec.State)
		require.Equal(t, "bob", rec.StoppedBy)
		require.Equal(t, "carol", rec.CancelledBy)
		require.Equal(t, "alice@example.org", rec.User)
		require.ErrorIs(t, b.Cancel(t.Context(), "ft-unknown", "bob"), job.ErrNotFound)
		require.ErrorContains(t, b.Cancel(t.Context(), run, "bob"), "has already ended")
	})
}

func texts(said []message.Status) (out []string) {
	for _, s := range said {
		out = append(out, s.Text)
	}
	return out
}

func TestATrainingThatIsStoppedAndThenCancelledKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		h := b.hook()
		h.look = func(n int) rayjob.Verdict {
			switch n {
			case 3:
				_, err := b.store.Change(t.Context(), run, func(r *job.Record) error { return r.Stop("alice") })
				require.NoError(t, err)
			case 4:
				b.cancelFrom(t, new(error))()
			}
			return rayjob.Running
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Cancelled, b.get(t, run).State)
		require.Empty(t, b.platform.delivered)
	})
}

func TestARetryMeetsNothingOfTheTryBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.accept(t, run, nil)
		_, err := b.store.Change(t.Context(), run, func(r *job.Record) error {
			r.End(job.Failed, "the cluster went away")
			return r.Close()
		})
		require.NoError(t, err)
		dir := b.cfg.Volume.Run(run).Path()
		require.NoError(t, resultstest.Play(dir, run, 1)) // too late: the job had failed by then
		require.NoError(t, os.WriteFile(filepath.Join(dir, "stop"), []byte("keep\n"), 0o600))
		_, err = b.store.Change(t.Context(), run, (*job.Record).Retry)
		require.NoError(t, err)
		h := b.hook()
		h.download = func(context.Context) error {
			require.NoFileExists(t, filepath.Join(dir, "stop"))
			require.NoFileExists(t, filepath.Join(dir, results.ResultFile))
			return nil
		}
		h.submit = func() { require.NoError(t, os.Remove(filepath.Join(dir, results.ResultFile))) }
		h.look = func(int) rayjob.Verdict { return rayjob.Lost }
		b.runUntilOver(t)
		require.Equal(t, job.Failed, b.get(t, run).State, "the late result counts for nothing")
		require.Empty(t, b.platform.delivered)
	})
}
