package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// announce sends the announcement at once and then again and again until ctx ends, on a channel of its own and without
// confirms. While the broker is blocked it keeps silent.
func (p *Publisher) announce(ctx context.Context, s *session, blocked *atomic.Bool) error {
	ch, closed, err := s.channel()
	if err != nil {
		return err
	}
	tick := time.NewTicker(p.announcement.Every)
	defer tick.Stop()
	for {
		if !blocked.Load() {
			msg := amqp.Publishing{ContentType: "application/json", Body: p.announcement.Body()}
			if err := ch.PublishWithContext(ctx, p.announcement.Exchange, "", false, false, msg); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("announce on %q: %w", p.announcement.Exchange, err)
			}
			p.link.metrics.announced.Inc()
		}
		select {
		case <-tick.C:
		case said := <-closed:
			return closeCause("the channel for announcements", said)
		case <-ctx.Done():
			return nil
		}
	}
}
