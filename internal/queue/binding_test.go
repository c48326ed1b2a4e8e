//go:build integration

package queue

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
)

func TestAQueueIsBoundAsSoonAsTheExchangeExists(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	binding := Binding{Exchange: "clowder", Key: "extractors." + f.cfg.Queue}
	p := f.publisher(Announcement{
		Exchange: "extractors", Every: 20 * time.Millisecond, Body: func() []byte { return []byte("{}") }, Binding: binding,
	})
	require.Eventually(t, p.Ready, soon, time.Millisecond, "it needs no such exchange")
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))

	ch := f.channel()
	require.NoError(t, ch.ExchangeDeclare("clowder", amqp.ExchangeTopic, true, false, false, false, nil))
	require.Eventually(t, func() bool {
		return p.Publish(t.Context(), Message{Exchange: "clowder", RoutingKey: binding.Key}) == nil
	}, soon, 10*time.Millisecond)
	require.Error(t, p.Publish(t.Context(), Message{Exchange: "clowder", RoutingKey: "clowder.dataset.file.added"}), "events do not come in")
}

func TestAnExchangeThatMayNotBeReadStopsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	require.NoError(t, f.channel().ExchangeDeclare("clowder", amqp.ExchangeTopic, true, false, false, false, nil))
	f.user("unbound", `<<".*">>, <<".*">>, <<"^q-">>`)
	f.replace("guest:guest", "unbound:s3cret")
	p := f.publisher(Announcement{
		Exchange: "extractors", Every: 20 * time.Millisecond, Body: func() []byte { return []byte("{}") },
		Binding: Binding{Exchange: "clowder", Key: "extractors." + f.cfg.Queue},
	})
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))
	refused := func() int { return f.logs.FilterMessageSnippet("the broker refuses to bind the queue").Len() }
	require.Eventually(t, func() bool { return refused() > 0 }, soon, time.Millisecond)
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))
	require.Equal(t, 1, refused(), "it is said once")
}
