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
	var waiting int
	err := cfg.look(ctx, func(s *session) error {
		q, err := s.lookUp(cfg.Queue)
		waiting = q.Messages
		return err
	})
	if replyCode(err) == amqp.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count the messages in the queue %q: %w", cfg.Queue, err)
	}
	return waiting, nil
}
