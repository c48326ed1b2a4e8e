package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
)

// subscription is one consumer as the broker sees it, from basic.consume to basic.cancel. Its prefetch is fixed: another prefetch
// needs a new subscription.
type subscription struct {
	tag        string
	prefetch   int
	deliveries <-chan amqp.Delivery
	// unsettled is the number of its deliveries that the handlers have not settled.
	unsettled atomic.Int64
}

// serve consumes on one session until the session or ctx ends.
func (c *Consumer) serve(ctx, work context.Context, s *session) error {
	if err := s.declareQueues(c.conn.cfg.Queue, c.conn.log); err != nil {
		return err
	}
	c.declaredOf.Do(func() { close(c.declared) })
	ch, closed, err := s.channel()
	if err != nil {
		return err
	}
	cancelled := ch.NotifyCancel(make(chan string, 1))
	c.conn.ready(s)
	defer c.conn.metrics.prefetch.Set(0)

	sub := &subscription{}
	for serial := 1; ; serial++ {
		if want := c.wantedPrefetch(sub); want != sub.prefetch {
			if sub, err = c.resubscribe(work, s, ch, sub, want, serial); err != nil {
				return err
			}
		}
		deliveries := sub.deliveries
		if c.running.Load() >= int64(c.conn.cfg.MaxPrefetch) {
			deliveries = nil // enough concurrent calls; the end of a handler signals changed
		}
		select {
		case raw, open := <-deliveries:
			if !open {
				return endOfDeliveries(closed, cancelled)
			}
			c.dispatch(work, s, sub, raw, false)
		case <-c.changed:
		case <-c.slots.Freed():
		case err := <-s.failed:
			return err
		case reply := <-closed:
			return closeCause("the channel", reply)
		case reply := <-s.closed:
			return closeCause("the connection", reply)
		case <-cancelled:
			return errCancelled
		case <-ctx.Done():
			return c.shutDown(work, s, ch, sub)
		}
	}
}

// errCancelled ends a session whose queue is gone: it was deleted, or moved to another node.
var errCancelled = errors.New("the broker cancelled the subscription: the queue was deleted or moved, or an acknowledgement took too long")

// endOfDeliveries returns why the deliveries ended. The client may close their channel before it reports the reason.
func endOfDeliveries(closed <-chan *amqp.Error, cancelled <-chan string) error {
	select {
	case reply := <-closed:
		return closeCause("the channel", reply)
	case <-cancelled:
		return errCancelled
	}
}

// wantedPrefetch is how many unsettled messages sub may have. Deliveries of earlier subscriptions take slots too, and the broker
// does not count them for this one.
func (c *Consumer) wantedPrefetch(sub *subscription) int {
	earlier, limit := int(c.unsettled.Load()-sub.unsettled.Load()), c.conn.cfg.MaxPrefetch
	if c.oneByOne > 0 {
		limit = 1
	}
	return max(0, min(limit, c.slots.Free()-earlier))
}

// resubscribe replaces old by a subscription with another prefetch. With 0 it only ends old, so that the messages stay in the queue,
// where other consumers and operators see them. Messages in flight are handled while there are free slots, and put back otherwise.
func (c *Consumer) resubscribe(work context.Context, s *session, ch *amqp.Channel, old *subscription, prefetch, serial int) (*subscription, error) {
	if err := c.unsubscribe(work, s, ch, old, false); err != nil {
		return nil, err
	}
	c.conn.metrics.prefetch.Set(float64(prefetch))
	sub := &subscription{prefetch: prefetch}
	if prefetch == 0 {
		return sub, nil
	}
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return nil, fmt.Errorf("set the prefetch: %w", err)
	}
	sub.tag = fmt.Sprintf("clowder-ray-%d-%d", s.epoch, serial)
	var err error
	if sub.deliveries, err = ch.Consume(c.conn.cfg.Queue, sub.tag, false, false, false, false, nil); err != nil {
		return nil, fmt.Errorf("consume: %w", err)
	}
	return sub, nil
}

// unsubscribe ends a subscription and dispatches the messages that the client had read ahead.
func (c *Consumer) unsubscribe(work context.Context, s *session, ch *amqp.Channel, sub *subscription, stopping bool) error {
	if sub.deliveries == nil {
		return nil
	}
	if err := ch.Cancel(sub.tag, false); err != nil {
		return fmt.Errorf("cancel the subscription: %w", err)
	}
	for raw := range sub.deliveries {
		c.dispatch(work, s, sub, raw, stopping)
	}
	return nil
}

// shutDown stops consuming: it ends the subscription, puts messages that were read ahead back into the queue, and waits for the
// handlers while they can still acknowledge.
func (c *Consumer) shutDown(work context.Context, s *session, ch *amqp.Channel, sub *subscription) error {
	// If the session is lost meanwhile, the broker puts the messages back by itself.
	err := s.bounded(func() error { return c.unsubscribe(work, s, ch, sub, true) })
	c.drained.Do(c.drain)
	return err
}
