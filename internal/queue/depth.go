package queue

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Depth connects once and returns the number of messages in the queue of cfg that wait for a consumer. It is 0 if the queue does not
// exist.
func Depth(ctx context.Context, cfg Config) (int, error) {
	if err := errors.Join(cfg.Validate(), cfg.needsQueue()); err != nil {
		return 0, err
	}
	cfg = cfg.withDefaults()
	s, err := cfg.dial(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the messages in the queue %q: %w", cfg.Queue, err)
	}
	defer s.end()
	q, err := s.lookUp(cfg.Queue)
	if replyCode(err) == amqp.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count the messages in the queue %q: %w", cfg.Queue, err)
	}
	return q.Messages, nil
}
