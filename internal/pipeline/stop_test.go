package pipeline

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// block delays the calls of one name until the service stops, and then ends them in a way of its own.
type block struct {
	call string
	end  func(context.Context) error

	mu  sync.Mutex
	met int
}

func (s *block) at(ctx context.Context, call string) error {
	if s.call != call {
		return nil
	}
	s.mu.Lock()
	s.met++
	s.mu.Unlock()
	<-ctx.Done()
	return s.end(ctx)
}

type failingPlatform struct {
	*fakePlatform
	*block
}

func (p failingPlatform) Stage(ctx context.Context, rec job.Record, dir disk.Folder, say platform.Say) ([]job.Input, []job.NotRead, error) {
	if err := p.at(ctx, "stage"); err != nil {
		return nil, nil, err
	}
	return p.fakePlatform.Stage(ctx, rec, dir, say)
}

func (p failingPlatform) Deliver(ctx context.Context, rec job.Record, d platform.Delivery, l platform.LedgerFile, say func(string)) (string, error) {
	if err := p.at(ctx, "deliver"); err != nil {
		return "", err
	}
	return p.fakePlatform.Deliver(ctx, rec, d, l, say)
}

type failingRay struct {
	*fakeRay
	*block
}

func (r failingRay) Submit(ctx context.Context, a rayjob.Attempt) (rayjob.Handle, error) {
	if err := r.at(ctx, "submit"); err != nil {
		return rayjob.Handle{}, err
	}
	return r.fakeRay.Submit(ctx, a)
}

func (r failingRay) Observe(ctx context.Context, h rayjob.Handle, maxAge time.Duration) (rayjob.Observation, error) {
	if err := r.at(ctx, "observe"); err != nil {
		return rayjob.Observation{}, err
	}
	return r.fakeRay.Observe(ctx, h, maxAge)
}

func (r failingRay) Release(ctx context.Context, h rayjob.Handle) error {
	if err := r.at(ctx, "release"); err != nil {
		return err
	}
	return r.fakeRay.Release(ctx, h)
}

// blockOn puts a block between the pipeline and everything around it.
func (b *bench) blockOn(s *block) {
	b.source.Platform, b.backend.Backend = failingPlatform{b.platform, s}, failingRay{b.ray, s}
	b.published.hook = func(ctx context.Context, sent message.Status) error {
		if sent.Kind.Terminal() {
			return s.at(ctx, "publish")
		}
		return nil
	}
}

func TestAStopInAnyStageIsNoFailureAndLosesNothing(t *testing.T) {
	ends := map[string]func(context.Context) error{
		"ended by the stop":             context.Cause,
		"broken in the moment it comes": func(context.Context) error { return errors.New("connection reset by peer") },
		"refused for good in it":        func(context.Context) error { return job.Permanent(errors.New("no such file")) },
	}
	for call, state := range map[string]job.State{
		"stage": job.Accepted, "submit": job.Staged, "observe": job.Submitted, "deliver": job.Collected, "release": job.Uploaded, "publish": job.Uploaded,
	} {
		for name, end := range ends {
			t.Run(call+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := setup(t)
					s := &block{call: call, end: end}
					b.blockOn(s)
					b.accept(t, run, nil)
					began := time.Now()
					stopAfter(t, b, 30*time.Second)
					require.Less(t, time.Since(began), 40*time.Second, "the stop does not take long")
					require.NotZero(t, s.met)
					rec := b.get(t, run)
					require.Equal(t, state, rec.State)
					require.Zero(t, rec.Failures)
					require.Empty(t, rec.LastError)

					again := setupOn(t, b.dir, b.store)
					again.backend.Backend, again.source.Platform = b.ray, b.platform
					again.runUntilOver(t)
					require.Equal(t, job.Done, again.get(t, run).State)
					require.Equal(t, []string{"ft-one-a1"}, b.ray.submits, "trained once")
					kinds := again.published.kinds(run)
					require.Equal(t, message.StatusDone, kinds[len(kinds)-1])
				})
			})
		}
	}
}

func TestTheLastWordGoesOutBeforeAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.accept(t, run, nil)
		ctx, stop := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		for b.get(t, run).Ending == nil {
			<-time.After(10 * time.Millisecond)
		}
		stop(ErrStopping)
		require.NoError(t, <-done)
		require.Equal(t, job.Done, b.get(t, run).State, "told and closed, though the service was stopping")
		kinds := b.published.kinds(run)
		require.Equal(t, message.StatusDone, kinds[len(kinds)-1])
	})
}
