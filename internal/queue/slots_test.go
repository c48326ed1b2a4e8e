//go:build integration

package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
)

func TestNoMoreIsTakenThanThereAreFreeSlots(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(10)
	s := newSlots(3)
	in := newInbox()
	c, _ := f.consume(s, in.handle)

	first := []*held{in.next(t), in.next(t), in.next(t)}
	f.requireDepth(7, 3)

	// Two of them become jobs and one does not: its slot takes the next message.
	s.add(-2)
	first[0].ack(t)
	first[1].ack(t)
	f.requireDepth(7, 1)
	first[2].ack(t)
	next := in.next(t)
	f.requireDepth(6, 1)
	s.add(-1)
	next.ack(t)

	// No slot is left: the waiting messages are visible in the queue and held by no consumer, and the consumer is still ready.
	f.requireDepth(6, 0)
	require.True(t, c.Ready())
	require.Zero(t, f.counter("prefetch"))
	require.Equal(t, "0", f.consumers())

	s.add(2)
	two := []*held{in.next(t), in.next(t)}
	f.requireDepth(4, 2)
	require.Equal(t, "1", f.consumers())
	for _, h := range two {
		h.ack(t)
	}
	for range 4 {
		in.next(t).ack(t)
	}
	f.requireDepth(0, 0)
}

func TestMessagesReadAheadArePutBackWhenSlotsRunOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(20)
	s := newSlots(8)
	var taken atomic.Int64
	in := newInbox()
	f.consume(s, func(ctx context.Context, d *Delivery) error {
		taken.Add(1)
		return in.handle(ctx, d)
	})
	held := make([]*held, 8)
	for i := range held {
		held[i] = in.next(t)
	}
	// All eight become jobs at once. For each ack the broker sends another message, which must be put back.
	s.add(-8)
	for _, h := range held {
		h.ack(t)
	}
	f.requireDepth(12, 0)
	require.EqualValues(t, 8, taken.Load())
	s.add(20)
	for range 12 {
		in.next(t).ack(t)
	}
	f.requireDepth(0, 0)
}

func TestAfterAHandlersErrorTheMessageComesAgainLater(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]Handler{
		"an error": func(context.Context, *Delivery) error { return errors.New("the disk is full") },
		"a panic":  func(context.Context, *Delivery) error { panic("of the handler") },
		"a return without settling it": func(context.Context, *Delivery) error {
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.cfg.BackoffMin, f.cfg.BackoffMax = 100*time.Millisecond, time.Second
			f.publish(1)
			var times atomic.Int64
			in := newInbox()
			begun := time.Now()
			f.consume(fixedSlots(8), func(ctx context.Context, d *Delivery) error {
				if times.Add(1) <= 3 {
					return handle(ctx, d)
				}
				return in.handle(ctx, d)
			})
			last := in.next(t)
			require.True(t, last.Redelivered)
			require.GreaterOrEqual(t, time.Since(begun), 300*time.Millisecond, "three waits")
			last.ack(t)
			f.requireDepth(0, 0)
			require.Equal(t, 3, int(f.counter("handler_failures_total")))
		})
	}
}

func TestADeliveryIsHandedOverWholeAndSettledOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(1)
	in := newInbox()
	f.consume(fixedSlots(1), in.handle)
	d := in.next(t)
	require.Equal(t, "1", string(d.Body))
	require.Equal(t, "reply", d.ReplyTo)
	require.Equal(t, "c1", d.CorrelationID)
	require.Equal(t, map[string]any{"nested": map[string]any{"n": int32(0)}}, d.Headers)
	require.WithinDuration(t, time.Now(), d.Received, soon)
	require.NoError(t, d.Requeue())
	require.ErrorIs(t, d.Ack(), ErrSettled)
	d.release <- nil
	d = in.next(t)
	require.True(t, d.Redelivered)
	d.ack(t)
	f.requireDepth(0, 0)
}

func TestAStopPutsBackMessagesThatNoHandlerFinished(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.cfg.DrainTimeout = 2 * time.Second
	f.publish(20)
	in := newInbox()
	_, stop := f.consume(fixedSlots(20), in.handle)
	finished, stuck := in.next(t), in.next(t)
	result := make(chan error, 1)
	go func() { result <- stop() }()
	// Its handler started before the stop and may finish and acknowledge after it.
	require.Eventually(t, func() bool { return f.consumers() == "0" }, soon, 10*time.Millisecond)
	finished.ack(t)
	require.NoError(t, <-result)
	require.ErrorIs(t, stuck.Ack(), ErrSessionGone)
	f.requireDepth(19, 0)
}

// consumers is how many consumers the broker sees on the queue.
func (f *fixture) consumers() string {
	f.Helper()
	q, err := f.channel().QueueDeclarePassive(f.cfg.Queue, true, false, false, false, nil)
	require.NoError(f, err)
	return string(rune('0' + q.Consumers))
}

func TestLargeMessagesComeOneAtATime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(0)
	ch := f.channel()
	for i := range 20 + 3*smallBeforeMany {
		body := []byte("light")
		if i < 20 {
			body = make([]byte, largeMessage+1)
		}
		require.NoError(t, ch.PublishWithContext(t.Context(), "", f.cfg.Queue, true, false, amqp.Publishing{Body: body}))
	}
	f.requireDepth(20+3*smallBeforeMany, 0)
	in := newInbox()
	f.consume(fixedSlots(64), in.handle)
	// Messages that were requested before the first large one arrived may be here as well. After them, they come one at a time.
	alone := 0
	for range 20 {
		d := in.next(t)
		require.Len(t, d.Body, largeMessage+1)
		if _, unacked := f.depth(); unacked <= 1 {
			alone++
		} else {
			require.Zero(t, alone, "%d messages at once after one came alone", unacked)
		}
		d.ack(t)
	}
	require.Positive(t, alone)
	for range 2 * smallBeforeMany {
		in.next(t).ack(t)
	}
	require.Eventually(t, func() bool { return f.counter("prefetch") == 8 }, soon, 10*time.Millisecond, "several at a time again")
	for range smallBeforeMany {
		in.next(t).ack(t)
	}
	f.requireDepth(0, 0)
}
