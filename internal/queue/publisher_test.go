//go:build integration

package queue

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func requireKind(tb testing.TB, want job.Kind, err error) {
	tb.Helper()
	require.Error(tb, err)
	kind, _ := job.Classify(err)
	require.Equal(tb, want, kind, err)
}

func TestEveryMessageToAMissingQueueIsReturned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	p := f.publisher(Announcement{})
	for i := range 500 {
		err := p.Publish(t.Context(), Message{RoutingKey: "no-such-queue", Body: []byte("{}")})
		require.ErrorIs(t, err, ErrUnroutable, i)
		requireKind(t, job.KindPermanent, err)
	}
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue, Body: []byte("{}")}), "the next message is not blamed")
	f.requireDepth(1, 0)
	require.Equal(t, 501, int(f.counter("published_total")))
}

func TestAPublishedMessageIsAsTheReaderExpectsIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	p := f.publisher(Announcement{})
	require.NoError(t, p.Publish(t.Context(), Message{
		RoutingKey: f.cfg.Queue, Body: []byte(`{"a": 1}`), CorrelationID: "c", ReplyTo: "r",
		Headers: map[string]any{"x-error": "why", "nested": map[string]any{"list": []any{int32(1), "two"}}},
	}))
	d, ok, err := f.channel().Get(f.cfg.Queue, true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, `{"a": 1}`, string(d.Body))
	require.Equal(t, "application/json", d.ContentType)
	require.Equal(t, "c", d.CorrelationId)
	require.Equal(t, "r", d.ReplyTo)
	require.Equal(t, amqp.Persistent, d.DeliveryMode)
	require.Equal(t, amqp.Table{"x-error": "why", "nested": amqp.Table{"list": []any{int32(1), "two"}}}, d.Headers)
}

func TestPublishFromManyAtOnceLosesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	p := f.publisher(Announcement{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				if err := p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue, Body: []byte("{}")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	f.requireDepth(200, 0)
}

func TestPublishWaitsForABrokerUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	proxy := f.proxied()
	addr := proxy.Listen
	proxy.Stop()
	p, err := NewPublisher(f.cfg, Announcement{}, f.log, f.metrics)
	require.NoError(t, err)
	stop := f.run(p.Run)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = p.Publish(short, Message{RoutingKey: f.cfg.Queue})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	requireKind(t, job.KindRetryable, err)

	result := make(chan error, 1)
	go func() { result <- p.Publish(context.WithoutCancel(t.Context()), Message{RoutingKey: f.cfg.Queue}) }()
	listen(t, proxy, addr)
	require.NoError(t, <-result)
	f.requireDepth(1, 0)

	require.NoError(t, stop())
	err = p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue})
	require.ErrorIs(t, err, ErrStopped)
	requireKind(t, job.KindRetryable, err)
}

func TestALostConfirmIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	proxy := f.proxied()
	p := f.publisher(Announcement{})
	require.Eventually(t, p.Ready, soon, time.Millisecond)
	clearFault := toxic(t, proxy, `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`)

	// First the caller gives up, and then the session ends. In both cases the message may be in the queue, and here it is.
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	requireKind(t, job.KindUnknown, p.Publish(short, Message{RoutingKey: f.cfg.Queue}))
	f.requireDepth(1, 0)
	cut(t, proxy)
	clearFault()
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))

	clearFault = toxic(t, proxy, `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`)
	result := make(chan error, 1)
	go func() { result <- p.Publish(context.WithoutCancel(t.Context()), Message{RoutingKey: f.cfg.Queue}) }()
	f.requireDepth(3, 0)
	cut(t, proxy)
	clearFault()
	requireKind(t, job.KindUnknown, <-result)
}

func TestABrokerThatNeverConfirmsEndsTheSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	f.cfg.ConfirmTimeout = 200 * time.Millisecond
	proxy := f.proxied()
	p := f.publisher(Announcement{})
	require.Eventually(t, p.Ready, soon, time.Millisecond)
	clearFault := toxic(t, proxy, `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`)
	requireKind(t, job.KindUnknown, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))
	cut(t, proxy)
	clearFault()
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))
}

func TestAMessageThatTheBrokerRefusesIsPermanent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	p := f.publisher(Announcement{})
	requireKind(t, job.KindPermanent, p.Publish(t.Context(), Message{Exchange: "no-such-exchange", RoutingKey: "x"}))
	requireKind(t, job.KindPermanent, p.Publish(t.Context(), Message{Headers: map[string]any{"x": struct{}{}}}))
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))
}

func TestAnnouncesAtOnceOnEveryConnectionAndThenAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	listener := f.channel()
	require.NoError(t, listener.ExchangeDeclare("extractors", "fanout", true, false, false, false, nil))
	q, err := listener.QueueDeclare("", false, true, true, false, nil)
	require.NoError(t, err)
	require.NoError(t, listener.QueueBind(q.Name, "", "extractors", false, nil))
	heard, err := listener.Consume(q.Name, "", true, true, false, false, nil)
	require.NoError(t, err)
	next := func() string {
		t.Helper()
		select {
		case d := <-heard:
			return string(d.Body)
		case <-time.After(soon):
			require.FailNow(t, "no announcement")
			return ""
		}
	}

	proxy := f.proxied()
	n := 0
	often := Announcement{Exchange: "extractors", Every: 50 * time.Millisecond, Body: func() []byte {
		n++
		return []byte(strconv.Itoa(n))
	}}
	p, err := NewPublisher(f.cfg, often, f.log, f.metrics)
	require.NoError(t, err)
	stop := f.run(p.Run)
	for i := range 3 {
		require.Equal(t, strconv.Itoa(i+1), next())
	}
	require.NoError(t, stop())

	for len(heard) > 0 {
		<-heard
	}
	f.publisher(Announcement{Exchange: "extractors", Every: time.Hour, Body: func() []byte { return []byte("here") }})
	for next() != "here" {
		continue
	}
	cut(t, proxy)
	require.Equal(t, "here", next(), "the new connection announces at once")
}

func TestRunMayBeCalledOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, err := NewPublisher(f.cfg, Announcement{}, f.log, f.metrics)
	require.NoError(t, err)
	require.NoError(t, f.run(p.Run)())
	require.Error(t, p.Run(t.Context()))
	_, err = NewPublisher(f.cfg, Announcement{Exchange: "extractors"}, f.log, f.metrics)
	require.Error(t, err)
}
