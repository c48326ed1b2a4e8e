//go:build integration

package queue

import (
	"strconv"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/broker"
)

// These faults concern the whole broker, so they have their own broker and happen one after the other.
func TestFaultsOfTheBroker(t *testing.T) {
	t.Parallel()
	b := broker.Own(t)
	for _, tc := range []struct {
		name string
		test func(t *testing.T, f *fixture)
	}{
		{"a clean restart loses no durable message", restart},
		{"confirmed messages survive kill -9", killed},
		{"a delivery that is held too long is delivered again", heldTooLong},
		{"acks continue while the broker blocks publishers", outOfMemory},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, newFixtureOn(t, b)) })
	}
}

func restart(t *testing.T, f *fixture) {
	t.Helper()
	f.publish(20)
	in := newInbox()
	c, _ := f.consume(fixedSlots(1), in.handle)
	p := f.publisher(Announcement{})
	first := in.next(t)
	require.NoError(t, f.broker.Restart(t.Context()))
	require.ErrorIs(t, first.Ack(), ErrSessionGone)
	first.release <- nil
	seen := map[string]bool{}
	for len(seen) < 20 {
		h := in.next(t)
		seen[string(h.Body)] = true
		h.ack(t)
	}
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue, Body: []byte("21")}))
	in.next(t).ack(t)
	f.requireDepth(0, 0)
	require.EqualValues(t, 2, c.conn.epoch.Load())
}

func killed(t *testing.T, f *fixture) {
	t.Helper()
	f.publish(0)
	p := f.publisher(Announcement{})
	confirmed := map[string]bool{}
	for i := range 50 {
		body := strconv.Itoa(i)
		require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue, Body: []byte(body)}))
		confirmed[body] = true
	}
	f.broker.Kill()
	require.Eventually(t, func() bool { return !p.Ready() }, noticed, time.Millisecond)
	require.NoError(t, f.broker.Revive(t.Context()))
	in := newInbox()
	f.consume(fixedSlots(8), in.handle)
	for len(confirmed) > 0 {
		h := in.next(t)
		delete(confirmed, string(h.Body))
		h.ack(t)
	}
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue}))
	in.next(t).ack(t)
}

func heldTooLong(t *testing.T, f *fixture) {
	t.Helper()
	f.broker.MustEval(t, "application:set_env(rabbit, consumer_timeout, 2000), application:set_env(rabbit, channel_tick_interval, 500).")
	defer f.broker.MustEval(t, "application:set_env(rabbit, consumer_timeout, 1800000), application:set_env(rabbit, channel_tick_interval, 60000).")
	f.publish(1)
	in := newInbox()
	f.consume(fixedSlots(8), in.handle)
	first, second := in.next(t), in.next(t)
	require.True(t, second.Redelivered)
	require.ErrorIs(t, first.Ack(), ErrSessionGone)
	first.release <- nil
	second.ack(t)
	f.requireDepth(0, 0)
}

func outOfMemory(t *testing.T, f *fixture) {
	t.Helper()
	f.publish(5)
	s := newSlots(8)
	in := newInbox()
	c, _ := f.consume(s, in.handle)
	p := f.publisher(Announcement{Exchange: "extractors", Every: 10 * time.Millisecond, Body: func() []byte { return nil }})
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: errorPrefix + f.cfg.Queue}))

	_, err := f.broker.Ctl(t.Context(), "set_vm_memory_high_watermark", "0")
	require.NoError(t, err)
	// The announcements make it a connection that publishes, and the broker blocks only such connections.
	require.Eventually(t, func() bool { return f.counter("blocked") == 1 }, soon, 10*time.Millisecond)
	var all sync.WaitGroup
	defer all.Wait()
	for range 3 {
		all.Go(func() {
			if err := p.Publish(t.Context(), Message{RoutingKey: errorPrefix + f.cfg.Queue}); err != nil {
				t.Error(err)
			}
		})
	}
	for range 5 {
		in.next(t).ack(t)
	}
	f.requireDepth(0, 0)
	require.True(t, p.Ready())
	require.True(t, c.Ready())

	_, err = f.broker.Ctl(t.Context(), "set_vm_memory_high_watermark", "0.9")
	require.NoError(t, err)
	all.Wait()
	require.Zero(t, f.counter("blocked"))
	require.Eventually(t, func() bool {
		ready, _ := f.depthOf(errorPrefix + f.cfg.Queue)
		return ready == 4
	}, soon, 10*time.Millisecond, "the messages that waited")
	require.EqualValues(t, 1, c.conn.epoch.Load())
	require.EqualValues(t, 1, p.conn.epoch.Load())
}

func TestAQueueThatIsDeletedIsCreatedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := newInbox()
	c, _ := f.consume(fixedSlots(8), in.handle)
	_, err := f.channel().QueueDelete(f.cfg.Queue, false, false, false)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return c.conn.epoch.Load() == 2 && c.Ready() }, soon, time.Millisecond)
	f.publish(1)
	in.next(t).ack(t)
}

func TestAQueueThatIsDeletedWhilePausedIsCreatedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := newSlots(0)
	in := newInbox()
	f.consume(s, in.handle)
	_, err := f.channel().QueueDelete(f.cfg.Queue, false, false, false)
	require.NoError(t, err)
	s.add(1)
	require.Eventually(t, func() bool { ready, _ := f.depth(); return ready == 0 }, soon, time.Millisecond)
	f.publish(1)
	in.next(t).ack(t)
}

// A message that is not a job is first copied to the error queue and then acknowledged. Without the error queue the copy is returned,
// and the original stays.
func TestWithoutItsErrorQueueAMessageIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := newInbox()
	c, _ := f.consume(fixedSlots(8), in.handle)
	p := f.publisher(Announcement{})
	_, err := f.channel().QueueDelete(errorPrefix+f.cfg.Queue, false, false, false)
	require.NoError(t, err)
	f.publish(1)
	d := in.next(t)
	copied := Message{RoutingKey: errorPrefix + f.cfg.Queue, Body: d.Body}
	err = p.Publish(t.Context(), copied)
	require.ErrorIs(t, err, ErrUnroutable)
	d.release <- err // this ends the session, and the next one creates the queue

	d = in.next(t)
	require.True(t, d.Redelivered)
	require.EqualValues(t, 2, c.conn.epoch.Load())
	require.NoError(t, p.Publish(t.Context(), copied))
	d.ack(t)
	body, found := f.get(errorPrefix + f.cfg.Queue)
	require.True(t, found)
	require.Equal(t, "1", body)
	f.requireDepth(0, 0)
}

func TestBothQueuesAreCreatedDurableAndWithoutArguments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.consume(fixedSlots(1), newInbox().handle)
	for _, name := range []string{f.cfg.Queue, errorPrefix + f.cfg.Queue} {
		_, err := f.channel().QueueDeclare(name, true, false, false, false, nil)
		require.NoError(t, err)
	}
}

func TestAnExchangeThatTheOperatorMadeIsUsedAsItIs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.NoError(t, f.channel().ExchangeDeclare("extractors", "fanout", true, false, false, false, amqp.Table{"alternate-exchange": "amq.direct"}))
	p := f.publisher(Announcement{Exchange: "extractors", Every: time.Hour, Body: func() []byte { return nil }})
	require.Eventually(t, p.Ready, soon, time.Millisecond)
}

func TestAQueueThatTheOperatorMadeIsUsedAsItIs(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]amqp.Table{
		"a quorum queue": {"x-queue-type": "quorum"},
		"a queue with dead letters, a limit and priorities": {
			"x-dead-letter-exchange": "dead", "x-max-length": int32(1000), "x-max-priority": int32(3),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ch := f.channel()
			_, err := ch.QueueDeclare(f.cfg.Queue, true, false, false, false, args)
			require.NoError(t, err)
			in := newInbox()
			f.consume(fixedSlots(8), in.handle)
			require.NoError(t, ch.Publish("", f.cfg.Queue, true, false, amqp.Publishing{Body: []byte("x")}))
			in.next(t).ack(t)
		})
	}
}
