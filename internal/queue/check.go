package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Check connects once and looks around without changing anything. It returns one plain line about what it found, or an
// error that says what to mend. exchange is the one for announcements.
func Check(ctx context.Context, cfg Config, exchange string) (string, error) {
	if err := errors.Join(cfg.Validate(), cfg.needsQueue()); err != nil {
		return "", err
	}
	cfg = cfg.withDefaults()
	s, err := cfg.dial(ctx)
	if errors.Is(err, amqp.ErrCredentials) {
		return "", cfg.refusedLogin(err)
	}
	if err != nil {
		return "", cfg.dialFault(err, false)
	}
	defer s.end()
	found := []string{fmt.Sprintf("%v %v at %s", s.conn.Properties["product"], s.conn.Properties["version"], cfg.redacted())}
	for _, name := range []string{cfg.Queue, errorPrefix + cfg.Queue} {
		text, err := s.inspect(name)
		if err != nil {
			return "", err
		}
		found = append(found, text)
	}
	err = s.on(func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive(exchange, amqp.ExchangeFanout, true, false, false, false, nil)
	})
	switch {
	case err == nil:
		found = append(found, fmt.Sprintf("exchange %q is there", exchange))
	case code(err) == amqp.NotFound:
		found = append(found, fmt.Sprintf("exchange %q is not there yet: nobody listens for announcements on this virtual host so far", exchange))
	default:
		return "", fmt.Errorf("look for the exchange %q: %w", exchange, err)
	}
	return strings.Join(found, "; "), nil
}

// inspect describes a queue.
func (s *session) inspect(name string) (string, error) {
	var q amqp.Queue
	err := s.on(func(ch *amqp.Channel) (err error) {
		q, err = ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return err
	})
	switch {
	case err == nil:
		return fmt.Sprintf("queue %q has %d waiting and %d consumers", name, q.Messages, q.Consumers), nil
	case code(err) == amqp.NotFound:
		return fmt.Sprintf("queue %q is not there yet and will be made", name), nil
	case code(err) == amqp.ResourceLocked:
		return "", configError(err, SettingQueue, "the queue %q belongs to another connection alone: end that one, or use another name", name)
	}
	return "", fmt.Errorf("look for the queue %q: %w", name, err)
}
