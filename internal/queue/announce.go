package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// announce sends the announcement at once and then periodically until ctx ends, on its own channel and without confirms. While the
// broker blocks publishers it sends nothing.
func (p *Publisher) announce(ctx context.Context, s *session, blocked *atomic.Bool) error {
	ch, closed, err := s.channel()
	if err != nil {
		return err
	}
	returns := ch.NotifyReturn(make(chan amqp.Return, 1))
	bound := false
	tick := time.NewTicker(p.announcement.Every)
	defer tick.Stop()
	for {
		if !bound {
			if bound, err = s.bind(p.conn.cfg, p.announcement.Binding, p.conn.log); err != nil {
				return err
			}
		}
		sent := !blocked.Load()
		if sent {
			msg := amqp.Publishing{ContentType: "application/json", Body: p.announcement.Body()}
			if err := ch.PublishWithContext(ctx, p.announcement.Exchange, "", true, false, msg); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("announce on %q: %w", p.announcement.Exchange, err)
			}
			p.conn.metrics.announced.Inc()
		}
		unheard, err := p.untilNext(ctx, tick.C, returns, closed)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if sent && !unheard {
			p.noteListeners(true)
		}
	}
}

// untilNext waits for the time of the next announcement. unheard says that the broker had no queue for the last one, which is logged at once.
func (p *Publisher) untilNext(ctx context.Context, next <-chan time.Time, returns <-chan amqp.Return, closed <-chan *amqp.Error) (unheard bool, err error) {
	for {
		select {
		case <-next:
			return unheard, nil
		case <-returns:
			unheard = true
			p.noteListeners(false)
		case reply := <-closed:
			return unheard, closeCause("the channel for announcements", reply)
		case <-ctx.Done():
			return unheard, nil
		}
	}
}

// noteListeners logs when no program receives the announcements any more, and when one does again.
func (p *Publisher) noteListeners(heard bool) {
	if p.unheard.Swap(!heard) == !heard {
		return
	}
	if heard {
		p.conn.log.Info("Clowder reads the heartbeats again")
		return
	}
	p.conn.log.Warn("nobody reads the heartbeats, so Clowder shows the extractor as offline: start its heartbeat listener",
		zap.String("exchange", p.announcement.Exchange))
}
