package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Check connects once and inspects the broker without changing anything. It returns one line about what it found, or an error that
// says what to change. exchange is the exchange for announcements.
func Check(ctx context.Context, cfg Config, exchange string) (string, error) {
	if err := errors.Join(cfg.Validate(), cfg.needsQueue()); err != nil {
		return "", err
	}
	var found []string
	err := cfg.look(ctx, func(s *session) error {
		found = append(found, fmt.Sprintf("%v %v at %s", s.conn.Properties["product"], s.conn.Properties["version"], cfg.redacted()))
		for _, name := range []string{cfg.Queue, errorPrefix + cfg.Queue} {
			line, err := s.inspect(name)
			if err != nil {
				return err
			}
			found = append(found, line)
		}
		line, err := s.inspectExchange(exchange)
		found = append(found, line)
		return err
	})
	if err != nil {
		return "", err
	}
	return strings.Join(found, "; "), nil
}

// look calls do with a session of its own, and ends the session. c must be valid.
func (c Config) look(ctx context.Context, do func(*session) error) error {
	c = c.withDefaults()
	s, err := c.dial(ctx)
	if errors.Is(err, amqp.ErrCredentials) {
		return c.loginRefused(err)
	}
	if err != nil {
		return c.dialError(err, false)
	}
	defer s.end()
	return do(s)
}

// inspect describes a queue.
func (s *session) inspect(name string) (string, error) {
	q, err := s.lookUp(name)
	switch {
	case err == nil && q.Messages > 0 && q.Consumers == 0 && !strings.HasPrefix(name, errorPrefix):
		return fmt.Sprintf("queue %q has %d waiting messages and 0 consumers: nobody reads it until the service runs", name, q.Messages), nil
	case err == nil:
		return fmt.Sprintf("queue %q has %d waiting messages and %d consumers", name, q.Messages, q.Consumers), nil
	case replyCode(err) == amqp.NotFound:
		return fmt.Sprintf("queue %q does not exist yet and will be created", name), nil
	case replyCode(err) == amqp.ResourceLocked:
		return "", exclusive(err, SettingQueue, "queue", name)
	}
	return "", fmt.Errorf("look up the queue %q: %w", name, err)
}

// inspectExchange describes the exchange for announcements.
func (s *session) inspectExchange(name string) (string, error) {
	err := s.withChannel(func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive(name, amqp.ExchangeFanout, true, false, false, false, nil)
	})
	switch {
	case err == nil:
		return fmt.Sprintf("exchange %q exists", name), nil
	case replyCode(err) == amqp.NotFound:
		return fmt.Sprintf("exchange %q does not exist yet: no Clowder on this virtual host has asked for announcements", name), nil
	}
	return "", fmt.Errorf("look up the exchange %q: %w", name, err)
}

// lookUp returns what the broker knows of a queue, without making the queue.
func (s *session) lookUp(name string) (q amqp.Queue, err error) {
	err = s.withChannel(func(ch *amqp.Channel) (err error) {
		q, err = ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return err
	})
	return q, err
}

// Unread connects once and returns those of the queues that hold messages and have no consumer, and those that do not exist, which loses the
// messages to them. It changes nothing.
func Unread(ctx context.Context, cfg Config, queues []string) ([]string, error) {
	if len(queues) == 0 {
		return nil, nil
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	var unread []string
	err := cfg.look(ctx, func(s *session) error {
		for _, name := range queues {
			q, err := s.lookUp(name)
			switch {
			case replyCode(err) == amqp.NotFound:
				unread = append(unread, name+" (which does not exist)")
			case err != nil:
				return fmt.Errorf("look up the queue %q: %w", name, err)
			case q.Consumers == 0 && q.Messages > 0:
				unread = append(unread, name)
			}
		}
		return nil
	})
	return unread, err
}
