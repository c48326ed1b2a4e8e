package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
)

// subscription is one consumer in the broker's sense, from basic.consume to basic.cancel. The broker sends it as many
// messages ahead as its prefetch says, and that number is fixed: for another one there must be a new subscription.
type subscription struct {
	tag        string
	prefetch   int
	deliveries <-chan amqp.Delivery
	// inHand are its deliveries that the handlers have not settled.
	inHand atomic.Int64
}

// serve consumes on one session until that ends or ctx does.
func (c *Consumer) serve(ctx, work context.Context, s *session) error {
	if err := s.declareQueues(c.link.cfg.Queue, c.link.log); err != nil {
		return err
	}
	c.declaredOf.Do(func() { close(c.declared) })
	ch, closed, err := s.channel()
	if err != nil {
		return err
	}
	cancelled := ch.NotifyCancel(make(chan string, 1))
	c.link.ready(s)
	defer c.link.metrics.prefetch.Set(0)

	sub := &subscription{}
	for serial := 1; ; serial++ {
		if want := c.room(sub); want != sub.prefetch {
			if sub, err = c.resubscribe(work, s, ch, sub, want, serial); err != nil {
				return err
			}
		}
		deliveries := sub.deliveries
		if c.running.Load() >= int64(c.link.cfg.MaxPrefetch) {
			deliveries = nil // enough calls at once; a handler's end wakes us
		}
		select {
		case raw, open := <-deliveries:
			if !open {
				return endOfDeliveries(closed, cancelled)
			}
			c.take(work, s, sub, raw, false)
		case <-c.changed:
		case <-c.slots.Freed():
		case err := <-s.failed:
			return err
		case said := <-closed:
			return closeCause("the channel", said)
		case said := <-s.closed:
			return closeCause("the connection", said)
		case <-cancelled:
			return errCancelled
		case <-ctx.Done():
			return c.leave(work, s, ch, sub)
		}
	}
}

// errCancelled ends a session whose queue is gone: deleted by somebody, or moved to another node.
var errCancelled = errors.New("the broker ended our subscription, because the queue is gone or took too long to acknowledge")

// endOfDeliveries says why the deliveries ended. The client may close them before it tells the reason.
func endOfDeliveries(closed <-chan *amqp.Error, cancelled <-chan string) error {
	select {
	case said := <-closed:
		return closeCause("the channel", said)
	case <-cancelled:
		return errCancelled
	}
}

// room is how many messages the broker may have under way to sub and its handlers. Deliveries of earlier subscriptions
// take room too, which the broker does not count for this one.
func (c *Consumer) room(sub *subscription) int {
	others, most := int(c.inHand.Load()-sub.inHand.Load()), c.link.cfg.MaxPrefetch
	if c.heavy > 0 {
		most = 1
	}
	return max(0, min(most, c.slots.Free()-others))
}

// resubscribe replaces old by a subscription with another prefetch; with 0 it only ends old, and the queue's messages stay
// where everybody sees them. Messages that were under way are handled as far as there is room and given back otherwise.
func (c *Consumer) resubscribe(work context.Context, s *session, ch *amqp.Channel, old *subscription, prefetch, serial int) (*subscription, error) {
	if err := c.unsubscribe(work, s, ch, old, false); err != nil {
		return nil, err
	}
	c.link.metrics.prefetch.Set(float64(prefetch))
	sub := &subscription{prefetch: prefetch}
	if prefetch == 0 {
		return sub, nil
	}
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return nil, fmt.Errorf("set the prefetch: %w", err)
	}
	sub.tag = fmt.Sprintf("clowder-ray-%d-%d", s.epoch, serial)
	var err error
	if sub.deliveries, err = ch.Consume(c.link.cfg.Queue, sub.tag, false, false, false, false, nil); err != nil {
		return nil, fmt.Errorf("consume: %w", err)
	}
	return sub, nil
}

// unsubscribe ends a subscription and deals with what the client had read ahead.
func (c *Consumer) unsubscribe(work context.Context, s *session, ch *amqp.Channel, sub *subscription, stopping bool) error {
	if sub.deliveries == nil {
		return nil
	}
	if err := ch.Cancel(sub.tag, false); err != nil {
		return fmt.Errorf("cancel the subscription: %w", err)
	}
	for raw := range sub.deliveries {
		c.take(work, s, sub, raw, stopping)
	}
	return nil
}

// leave ends the consuming in an orderly way: no new deliveries, give back what was read ahead, and let the handlers
// finish while they can still acknowledge.
func (c *Consumer) leave(work context.Context, s *session, ch *amqp.Channel, sub *subscription) error {
	// A session that is lost meanwhile has nothing to leave in an orderly way.
	err := s.bounded(func() error { return c.unsubscribe(work, s, ch, sub, true) })
	c.drained.Do(c.drain)
	return err
}
