package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// confirmChannel is the channel of a session that publishes messages one at a time with publisher confirms.
//
// One at a time, because only then a return and a confirm belong together: RabbitMQ confirms a message that no queue receives, and
// sends the return just before the confirm on the same channel. The client passes the return on before it reads the confirm. So
// after the confirm the return can be read without waiting. A message stays in flight until its result is known, also if its
// caller has left. Otherwise the next message would get its return.
type confirmChannel struct {
	p       *Publisher
	s       *session
	ch      *amqp.Channel
	closed  <-chan *amqp.Error
	returns <-chan amqp.Return
	// flow receives the broker's notices that it blocks publishers or unblocks them. blocked is the last notice; the announcer
	// reads it too.
	flow    <-chan amqp.Blocking
	blocked atomic.Bool
}

// serve publishes on one session until the session or ctx ends.
func (p *Publisher) serve(ctx context.Context, s *session) error {
	// The client waits five seconds for a reader of a notice and then drops the notice, so the channel is buffered.
	c := &confirmChannel{p: p, s: s, flow: s.conn.NotifyBlocked(make(chan amqp.Blocking, 4))}
	defer p.conn.metrics.blocked.Set(0)
	var err error
	if c.ch, c.closed, err = s.channel(); err != nil {
		return err
	}
	c.returns = c.ch.NotifyReturn(make(chan amqp.Return, 1))
	if err := c.ch.Confirm(false); err != nil {
		return fmt.Errorf("turn on publisher confirms: %w", err)
	}
	if p.announcement.Exchange != "" {
		if err := s.declareFanout(p.announcement.Exchange, p.conn.log); err != nil {
			return err
		}
	}
	p.conn.ready(s)

	ctx, stop := context.WithCancel(ctx)
	var announcer sync.WaitGroup
	if p.announcement.Exchange != "" {
		announcer.Go(func() {
			if err := p.announce(ctx, s, &c.blocked); err != nil {
				s.endWith(err)
			}
		})
	}
	err = c.run(ctx)
	stop()
	// The announcer may be writing to a broker that no longer reads. Only closing the socket ends that.
	_ = s.bounded(func() error { announcer.Wait(); return nil })
	return err
}

// run publishes one message after the other while the broker does not block publishers.
func (c *confirmChannel) run(ctx context.Context) error {
	for {
		requests := c.p.requests
		if c.blocked.Load() {
			requests = nil
		}
		select {
		case r := <-requests:
			err, sessionEnd := c.publish(ctx, r.message)
			r.result <- err
			if sessionEnd != nil {
				return sessionEnd
			}
		case b := <-c.flow:
			c.setBlocked(b)
		case err := <-c.s.failed:
			return err
		case reply := <-c.closed:
			return closeCause("the channel", reply)
		case reply := <-c.s.closed:
			return closeCause("the connection", reply)
		case <-ctx.Done():
			return nil
		}
	}
}

// publish sends one message and waits for its result. The second error is the reason if the session has ended.
func (c *confirmChannel) publish(ctx context.Context, m Message) (result, sessionEnd error) {
	began := time.Now()
	outcome := publishedUnknown
	defer func() { c.p.conn.metrics.published.WithLabelValues(outcome).Inc() }()

	msg, err := m.publishing()
	if err != nil {
		outcome = publishedRefused
		return err, nil
	}
	confirm, err := c.ch.PublishWithDeferredConfirm(m.Exchange, m.RoutingKey, true, false, msg)
	if errors.Is(err, amqp.ErrClosed) {
		// Nothing was written: the session had ended before.
		outcome = publishedRefused
		return job.Retryable(fmt.Errorf("publish to %q: %w", m.RoutingKey, err)), err
	}
	if err != nil {
		return job.Unknown(fmt.Errorf("publish to %q: %w", m.RoutingKey, err)), err
	}
	if sessionEnd := c.await(ctx, confirm); sessionEnd != nil {
		return job.Unknown(fmt.Errorf("publish to %q: no confirm: %w", m.RoutingKey, sessionEnd)), sessionEnd
	}
	if !confirm.Acked() {
		return c.notConfirmed(m, &outcome)
	}
	select {
	case r := <-c.returns:
		outcome = publishedUnroutable
		return job.Permanent(fmt.Errorf("publish to %q: %w (%s)", m.RoutingKey, ErrUnroutable, r.ReplyText)), nil
	default:
	}
	outcome = publishedConfirmed
	c.p.conn.metrics.confirmTime.Observe(time.Since(began).Seconds())
	return nil, nil
}

// await waits until the broker has answered or the session has ended. The error is a reason to end the session without an answer.
func (c *confirmChannel) await(ctx context.Context, confirm *amqp.DeferredConfirmation) error {
	timer := time.NewTimer(c.p.conn.cfg.ConfirmTimeout)
	defer timer.Stop()
	stopping := ctx.Done()
	for {
		select {
		case <-confirm.Done(): // also when the channel or the connection ends
			return nil
		case b := <-c.flow:
			c.setBlocked(b)
		case <-stopping:
			stopping = nil
			timer.Reset(c.p.conn.cfg.CloseTimeout)
		case <-timer.C:
			if !c.blocked.Load() || stopping == nil {
				return errors.New("the broker did not confirm a message in time")
			}
			timer.Reset(c.p.conn.cfg.ConfirmTimeout)
		}
	}
}

// notConfirmed finds out why a message was not confirmed: the broker refused it, the broker closed the channel because of it, or the
// session was lost and the result is unknown.
func (c *confirmChannel) notConfirmed(m Message, outcome *string) (result, sessionEnd error) {
	if !c.ch.IsClosed() {
		*outcome = publishedRefused
		return job.Retryable(fmt.Errorf("publish to %q: the broker could not store the message", m.RoutingKey)), nil
	}
	sessionEnd = closeCause("the channel", <-c.closed)
	if reply, ok := brokerReply(sessionEnd); ok && reply.Recover {
		// Only this message is refused: its exchange is missing, it is too long, or the user has no write permission.
		*outcome = publishedRefused
		return job.Permanent(fmt.Errorf("publish to %q: the broker refuses the message: %s", m.RoutingKey, reply.Reason)), sessionEnd
	}
	return job.Unknown(fmt.Errorf("publish to %q: no confirm: %w", m.RoutingKey, sessionEnd)), sessionEnd
}

// setBlocked records that the broker blocks publishers or unblocks them.
func (c *confirmChannel) setBlocked(b amqp.Blocking) {
	if c.blocked.Swap(b.Active) == b.Active {
		return
	}
	m := c.p.conn.metrics
	if b.Active {
		m.blocked.Set(1)
		m.blockedTimes.Inc()
		c.p.conn.log.Error("the broker blocks publishers: free memory or disk on the broker", zap.String("reason", b.Reason))
		return
	}
	m.blocked.Set(0)
	c.p.conn.log.Info("the broker accepts messages again")
}
