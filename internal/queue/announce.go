package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// announce sends the announcement at once and then periodically until ctx ends, on its own channel and without confirms. While the
// broker blocks publishers it sends nothing.
func (p *Publisher) announce(ctx context.Context, s *session, blocked *atomic.Bool) error {
	ch, closed, err := s.channel()
	if err != nil {
		return err
	}
	bound := false
	tick := time.NewTicker(p.announcement.Every)
	defer tick.Stop()
	for {
		if !bound {
			if bound, err = s.bind(p.conn.cfg, p.announcement.Binding, p.conn.log); err != nil {
				return err
			}
		}
		if !blocked.Load() {
			msg := amqp.Publishing{ContentType: "application/json", Body: p.announcement.Body()}
			if err := ch.PublishWithContext(ctx, p.announcement.Exchange, "", false, false, msg); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("announce on %q: %w", p.announcement.Exchange, err)
			}
			p.conn.metrics.announced.Inc()
		}
		select {
		case <-tick.C:
		case reply := <-closed:
			return closeCause("the channel for announcements", reply)
		case <-ctx.Done():
			return nil
		}
	}
}
