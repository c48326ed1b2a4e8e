package queue

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Depth connects once and returns how many messages wait in the queue of cfg for a consumer. A queue that is not there holds none.
func Depth(ctx context.Context, cfg Config) (int, error) {
	if err := errors.Join(cfg.Validate(), cfg.needsQueue()); err != nil {
		return 0, err
	}
	cfg = cfg.withDefaults()
	s, err := cfg.dial(ctx)
	if err != nil {
		return 0, fmt.Errorf("count what waits in the queue %q: %w", cfg.Queue, err)
	}
	defer s.end()
	var q amqp.Queue
	err = s.on(func(ch *amqp.Channel) (err error) {
		q, err = ch.QueueDeclarePassive(cfg.Queue, true, false, false, false, nil)
		return err
	})
	if code(err) == amqp.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count what waits in the queue %q: %w", cfg.Queue, err)
	}
	return q.Messages, nil
}
