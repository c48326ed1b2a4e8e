package intake

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/queue"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

const alice = "alice@example.org"

// recoveryFixture is a recovery beside the double of a Clowder in which alice has a dataset.
type recoveryFixture struct {
	*Recovery

	published *statusesDouble
	server    *clowdertest.Server
	dataset   string
	queued    int // messages that wait

	mu   sync.Mutex
	sent []queue.Message
}

func (f *recoveryFixture) Publish(_ context.Context, m queue.Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, m)
	return nil
}

func newLostAndFound(t *testing.T) *recoveryFixture {
	t.Helper()
	server, err := clowdertest.New(clowdertest.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	client, err := clowder.NewClient(clowder.Config{URL: server.URL, Cache: disk.Folder{Volume: t.TempDir()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	l := &recoveryFixture{published: &statusesDouble{}, server: server, dataset: server.AddDataset(alice, "Reviews")}
	intakes := newIntakes(t, l.published)
	l.Recovery = intakes.Recovery(clowderplatform.New(client, intakes.cfg.Extractors), l, func(context.Context, string) (int, error) { return l.queued, nil }, 0)
	return l
}

// knows stores a job of a user that is on, so that the user's key is known.
func (f *recoveryFixture) knows(t *testing.T, user string) {
	t.Helper()
	id := f.server.AddJob(user, f.dataset, "ncsa.ray.finetune")
	rec := job.New(rayjob.RunName("", "ncsa.ray.finetune", id), job.Train, job.Request{
		Key: id, JobID: id, APIVersion: 2, Host: "http://backend:8000", DatasetID: f.dataset, ReplyTo: "clowder.abc", BodyHash: id,
	}, job.Secret(f.server.Key(user)))
	_, _, err := f.cfg.Store.Accept(t.Context(), rec)
	require.NoError(t, err)
}

func TestALostJobIsWrittenAnew(t *testing.T) {
	t.Parallel()
	l := newLostAndFound(t)
	lost := l.server.AddJob(alice, l.server.AddDataset(alice, "Films"), "ncsa.ray.predict")
	require.NoError(t, l.look(t.Context()))
	require.Empty(t, l.sent, "nobody's key is known")

	l.knows(t, alice)
	l.queued = 1
	require.NoError(t, l.look(t.Context()))
	require.Empty(t, l.sent, "it may be among those that wait")

	l.queued = 0
	l.every = time.Hour
	require.NoError(t, l.look(t.Context()))
	require.Empty(t, l.sent, "it may be under way")

	l.every = 0
	require.NoError(t, l.look(t.Context()))
	require.Len(t, l.sent, 1)
	require.Equal(t, []string{"ncsa.ray.predict", "clowder.abc"}, []string{l.sent[0].RoutingKey, l.sent[0].ReplyTo})
	req, key, err := message.Decode(l.sent[0].Body, message.Properties{})
	require.NoError(t, err)
	require.Equal(t, []string{lost, "http://backend:8000", "Films"}, []string{req.JobID, req.Host, req.Name})
	require.Equal(t, l.server.Key(alice), key.Reveal())
}

func TestNobodyIsAskedForTheJobsOfAClowderThatShowsNone(t *testing.T) {
	t.Parallel()
	l := newLostAndFound(t)
	l.server.AddJob(alice, l.server.AddDataset(alice, "Films"), "ncsa.ray.predict")
	rec := job.New("ft-one", job.Train, job.Request{Key: "k", JobID: "k", APIVersion: 1, Host: "http://backend:8000", BodyHash: "h"}, job.Secret(l.server.Key(alice)))
	_, _, err := l.cfg.Store.Accept(t.Context(), rec)
	require.NoError(t, err)
	require.NoError(t, l.look(t.Context()))
	require.Zero(t, l.server.Requests("GET", "/jobs"))
	require.Empty(t, l.sent)
}

func TestALostJobThatIsNotBegunIsTold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lose func(l *recoveryFixture) string
		want string
		kind message.StatusKind
	}{
		"a later request replaced it": {func(l *recoveryFixture) string {
			return l.server.AddJob(alice, l.dataset, "ncsa.ray.finetune")
		}, "a later request replaced it", message.StatusSkip},
		"a request about runs, which would mean another run by now": {func(l *recoveryFixture) string {
			return l.server.AddJob(alice, l.dataset, "ncsa.ray.runs")
		}, "submit it again", message.StatusError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLostAndFound(t)
			id := tc.lose(l)
			l.knows(t, alice)
			require.NoError(t, l.look(t.Context()))
			require.Empty(t, l.sent)
			require.Len(t, l.notified, 1)
			run := slices.Collect(maps.Keys(l.notified))[0]
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { l.cfg.Statuses.Run(ctx) })
			l.cfg.Statuses.Drain(ctx)
			stop()
			running.Wait()
			sent := l.published.sent
			require.Len(t, sent, 1)
			s := sent[0]
			require.Equal(t, tc.kind, s.Kind)
			require.Contains(t, s.Text, tc.want)
			require.Equal(t, []string{id, "clowder.abc"}, []string{l.published.last.JobID, l.published.last.ReplyTo})

			l.cfg.Statuses.Forget("lost-" + run)
			require.NoError(t, l.look(t.Context()))
			require.False(t, l.cfg.Statuses.HasOutbox("lost-"+run), "Clowder gets time to show it")
			l.notified[run] = time.Now().Add(-notifyAgain - time.Second)
			require.NoError(t, l.look(t.Context()))
			require.True(t, l.cfg.Statuses.HasOutbox("lost-"+run), "it did not come to pass")
		})
	}
}

func TestRecoveryGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	l := newLostAndFound(t)
	l.knows(t, alice)
	broken := errors.New("the broker is away")
	l.waiting = func(context.Context, string) (int, error) { return 0, broken }
	require.ErrorIs(t, l.look(t.Context()), broken)
	ctx, cancel := context.WithCancel(t.Context())
	looks := make(chan struct{}, 100)
	l.every = time.Millisecond
	l.waiting = func(context.Context, string) (int, error) { looks <- struct{}{}; return 0, broken }
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	<-looks
	<-looks
	cancel()
	require.NoError(t, <-done)
}

func TestWhatBecomesOfTheExtractorsIsLoggedOnce(t *testing.T) {
	t.Parallel()
	l := newLostAndFound(t)
	core, logged := observer.New(zap.InfoLevel)
	l.log = zap.New(core)
	l.knows(t, alice)
	beat := func() {
		for _, e := range l.cfg.Extractors {
			require.NoError(t, l.server.Heartbeat(e.Info.Heartbeat(e.Queue, form.Owner{}, "test")))
		}
		l.server.EnableListeners()
	}
	look := func(levels ...zapcore.Level) {
		t.Helper()
		require.NoError(t, l.look(t.Context()))
		var got []zapcore.Level
		for _, entry := range logged.TakeAll() {
			got = append(got, entry.Level)
		}
		require.Equal(t, levels, got)
	}
	beat()
	look()
	l.server.DeleteListener("ncsa.ray.finetune")
	look(zap.WarnLevel)
	look()
	beat()
	look(zap.InfoLevel)
}
