package queue

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// Binding leads messages of an exchange into the queue of the configuration. The exchange belongs to another program: it is never made
// here, and the queue is bound to it as soon as it exists.
type Binding struct {
	// Exchange is the name of the exchange. With an empty name nothing is bound.
	Exchange string
	// Key is the routing key of the messages.
	Key string
}

// bind binds the queue of cfg and reports whether no further try is needed: it is bound, or the broker refuses it. While the exchange does
// not exist it reports false.
func (s *session) bind(cfg Config, b Binding, log *zap.Logger) (over bool, err error) {
	if b.Exchange == "" || cfg.Queue == "" {
		return true, nil
	}
	err = s.withChannel(func(ch *amqp.Channel) error {
		return ch.QueueBind(cfg.Queue, b.Key, b.Exchange, false, nil)
	})
	switch {
	case err == nil:
		log.Debug("bound the queue", zap.String("exchange", b.Exchange), zap.String("key", b.Key))
		return true, nil
	case replyCode(err) == amqp.NotFound:
		return false, nil
	case replyCode(err) != 0:
		log.Warn("the broker refuses to bind the queue: Clowder v1 may lose submissions when a user cancels another one; give the user of "+
			"RABBITMQ_URI the right to read this exchange and to write to the queue",
			zap.String("exchange", b.Exchange), zap.String("queue", cfg.Queue), zap.Error(err))
		return true, nil
	}
	return false, fmt.Errorf("bind the queue to %q: %w", b.Exchange, err)
}
