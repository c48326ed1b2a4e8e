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

// lane is the channel of a session on which messages go out one at a time.
//
// One at a time is what makes confirms and returns belong together: RabbitMQ confirms a message that no queue takes, and
// sends the return just before the confirm, on the same channel. The client passes the return on before it looks at the
// confirm, so that after the confirm the return can be read without waiting. A message stays under way until its fate is
// known, also when its caller has gone, or the next one would be blamed for its return.
type lane struct {
	p       *Publisher
	s       *session
	ch      *amqp.Channel
	closed  <-chan *amqp.Error
	returns <-chan amqp.Return
	// blocks tells whether the broker takes messages, and blocked is what it told last; the announcer looks at that too.
	blocks  <-chan amqp.Blocking
	blocked atomic.Bool
}

// serve publishes on one session until that ends or ctx does.
func (p *Publisher) serve(ctx context.Context, s *session) error {
	// The client waits five seconds for somebody who reads a notice and then drops it, so there is room for some.
	l := &lane{p: p, s: s, blocks: s.conn.NotifyBlocked(make(chan amqp.Blocking, 4))}
	defer p.link.metrics.blocked.Set(0)
	var err error
	if l.ch, l.closed, err = s.channel(); err != nil {
		return err
	}
	l.returns = l.ch.NotifyReturn(make(chan amqp.Return, 1))
	if err := l.ch.Confirm(false); err != nil {
		return fmt.Errorf("ask for confirms: %w", err)
	}
	if p.announcement.Exchange != "" {
		if err := s.declareFanout(p.announcement.Exchange, p.link.log); err != nil {
			return err
		}
	}
	p.link.ready(s)

	ctx, stop := context.WithCancel(ctx)
	var announcer sync.WaitGroup
	if p.announcement.Exchange != "" {
		announcer.Go(func() {
			if err := p.announce(ctx, s, &l.blocked); err != nil {
				s.fail(err)
			}
		})
	}
	err = l.run(ctx)
	stop()
	// The announcer may be writing to a broker that reads no more; closing the socket is what ends that.
	_ = s.bounded(func() error { announcer.Wait(); return nil })
	return err
}

// run takes one message after the other, as long as the broker takes them.
func (l *lane) run(ctx context.Context) error {
	for {
		requests := l.p.requests
		if l.blocked.Load() {
			requests = nil
		}
		select {
		case r := <-requests:
			err, end := l.publish(ctx, r.message)
			r.fate <- err
			if end != nil {
				return end
			}
		case b := <-l.blocks:
			l.block(b)
		case err := <-l.s.failed:
			return err
		case said := <-l.closed:
			return closeCause("the channel", said)
		case said := <-l.s.closed:
			return closeCause("the connection", said)
		case <-ctx.Done():
			return nil
		}
	}
}

// publish sends one message and waits for its fate. The second error is the reason why the session is at its end.
func (l *lane) publish(ctx context.Context, m Message) (fate, end error) {
	begun := time.Now()
	outcome := publishedUnknown
	defer func() { l.p.link.metrics.published.WithLabelValues(outcome).Inc() }()

	msg, err := m.publishing()
	if err != nil {
		outcome = publishedRefused
		return err, nil
	}
	confirm, err := l.ch.PublishWithDeferredConfirm(m.Exchange, m.RoutingKey, true, false, msg)
	if errors.Is(err, amqp.ErrClosed) {
		// Nothing was written: the session had ended before.
		outcome = publishedRefused
		return job.Retryable(fmt.Errorf("publish to %q: %w", m.RoutingKey, err)), err
	}
	if err != nil {
		return job.Unknown(fmt.Errorf("publish to %q: %w", m.RoutingKey, err)), err
	}
	if end := l.await(ctx, confirm); end != nil {
		return job.Unknown(fmt.Errorf("publish to %q: no confirm: %w", m.RoutingKey, end)), end
	}
	if !confirm.Acked() {
		return l.unconfirmed(m, &outcome)
	}
	select {
	case r := <-l.returns:
		outcome = publishedUnroutable
		return job.Permanent(fmt.Errorf("publish to %q: %w (%s)", m.RoutingKey, ErrUnroutable, r.ReplyText)), nil
	default:
	}
	outcome = publishedConfirmed
	l.p.link.metrics.confirmTime.Observe(time.Since(begun).Seconds())
	return nil, nil
}

// await waits until the broker, or the end of the session, has decided about a message. The error is the reason to end
// the session without an answer.
func (l *lane) await(ctx context.Context, confirm *amqp.DeferredConfirmation) error {
	timer := time.NewTimer(l.p.link.cfg.ConfirmTimeout)
	defer timer.Stop()
	stopping := ctx.Done()
	for {
		select {
		case <-confirm.Done(): // the end of the channel or the connection comes here too
			return nil
		case b := <-l.blocks:
			l.block(b)
		case <-stopping:
			stopping = nil
			timer.Reset(l.p.link.cfg.CloseTimeout)
		case <-timer.C:
			if !l.blocked.Load() || stopping == nil {
				return errors.New("the broker takes too long to confirm a message")
			}
			timer.Reset(l.p.link.cfg.ConfirmTimeout)
		}
	}
}

// unconfirmed finds out why a message was not confirmed: the broker refused it, closed the channel because of it, or the
// session was lost and nobody knows.
func (l *lane) unconfirmed(m Message, outcome *string) (fate, end error) {
	if !l.ch.IsClosed() {
		*outcome = publishedRefused
		return job.Retryable(fmt.Errorf("publish to %q: the broker could not take the message", m.RoutingKey)), nil
	}
	end = closeCause("the channel", <-l.closed)
	if said, ok := serverError(end); ok && said.Recover {
		// A refusal of just this message: its exchange is missing, it is too long, or we may not write there.
		*outcome = publishedRefused
		return job.Permanent(fmt.Errorf("publish to %q: the broker refuses the message: %s", m.RoutingKey, said.Reason)), end
	}
	return job.Unknown(fmt.Errorf("publish to %q: no confirm: %w", m.RoutingKey, end)), end
}

// block notes that the broker stopped taking messages, or takes them again.
func (l *lane) block(b amqp.Blocking) {
	if l.blocked.Swap(b.Active) == b.Active {
		return
	}
	m := l.p.link.metrics
	if b.Active {
		m.blocked.Set(1)
		m.blockedTimes.Inc()
		l.p.link.log.Error("the broker takes no messages; it needs an operator", zap.String("reason", b.Reason))
		return
	}
	m.blocked.Set(0)
	l.p.link.log.Info("the broker takes messages again")
}
