package queue

import (
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// declareQueues makes sure that the queue and its error queue are there: durable and without arguments, as everybody who
// shares them expects. Queues that an operator made with arguments of his own, a quorum queue for one, are taken as they
// are.
func (s *session) declareQueues(queue string, log *zap.Logger) error {
	for _, name := range []string{queue, errorPrefix + queue} {
		err := s.declare(object{
			kind: "queue", name: name, want: "a durable queue", setting: SettingQueue,
			active: func(ch *amqp.Channel) error {
				_, err := ch.QueueDeclare(name, true, false, false, false, nil)
				return err
			},
			passive: func(ch *amqp.Channel) error {
				_, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
				return err
			},
		}, log)
		if err != nil {
			return err
		}
	}
	return nil
}

// declareFanout makes sure that the exchange for announcements is there: durable, of the type fanout.
func (s *session) declareFanout(name string, log *zap.Logger) error {
	return s.declare(object{
		kind: "exchange", name: name, want: "a durable fanout exchange", setting: SettingURI,
		active: func(ch *amqp.Channel) error {
			return ch.ExchangeDeclare(name, amqp.ExchangeFanout, true, false, false, false, nil)
		},
		passive: func(ch *amqp.Channel) error {
			return ch.ExchangeDeclarePassive(name, amqp.ExchangeFanout, true, false, false, false, nil)
		},
	}, log)
}

// object is something on the broker that must be there.
type object struct {
	kind, name, want, setting string
	active, passive           func(*amqp.Channel) error
}

// declare looks whether the object is there and makes it if not. Then it declares it once more: looking compares nothing,
// and a queue that is not durable loses everything at the broker's next restart. Each step has a channel of its own,
// because a refusal closes the channel.
func (s *session) declare(o object, log *zap.Logger) error {
	found := s.on(o.passive)
	if code(found) == amqp.ResourceLocked {
		return configError(found, o.setting, "the %s %q belongs to another connection alone: end that one, or use another name", o.kind, o.name)
	}
	if found != nil && code(found) != amqp.NotFound {
		return fmt.Errorf("look for the %s %q: %w", o.kind, o.name, found)
	}
	err := s.on(o.active)
	switch {
	case err == nil:
		return nil
	case code(err) == amqp.PreconditionFailed && unusable(err):
		said, _ := serverError(err)
		return configError(err, o.setting, "we need %q as %s, but the broker has another one: delete that one, or use another name or "+
			"virtual host (%s)", o.name, o.want, said.Reason)
	case code(err) == amqp.PreconditionFailed && found == nil:
		log.Debug("taken as the operator made it", zap.String(o.kind, o.name), zap.Error(err))
		return nil
	case code(err) == amqp.PreconditionFailed:
		said, _ := serverError(err)
		return configError(err, o.setting, "the %s %q is missing and the broker refuses to make it (%s)", o.kind, o.name, said.Reason)
	case code(err) == amqp.AccessRefused && found == nil:
		return nil // we may not make it, and need not
	case code(err) == amqp.AccessRefused:
		said, _ := serverError(err)
		return configError(err, SettingURI, "the %s %q is missing and our user may not make it: make it as %s, or give the user "+
			"configure permission (%s)", o.kind, o.name, o.want, said.Reason)
	}
	return fmt.Errorf("declare the %s %q: %w", o.kind, o.name, err)
}

// on runs a step on a channel of its own.
func (s *session) on(step func(*amqp.Channel) error) error {
	ch, _, err := s.channel()
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }()
	return step(ch)
}

// code is the reply code of the broker, or 0 if err is none of its replies.
func code(err error) int {
	if said, ok := serverError(err); ok {
		return said.Code
	}
	return 0
}

// unusable reports whether what the broker has differs from what we need in a basic property, and not only in an optional
// argument. The broker names the first difference, and looks at arguments last: "inequivalent arg 'durable' for queue …".
func unusable(err error) bool {
	said, _ := serverError(err)
	for _, property := range []string{"durable", "type", "auto_delete", "exclusive", "internal"} {
		if said != nil && strings.Contains(said.Reason, "inequivalent arg '"+property+"'") {
			return true
		}
	}
	return false
}
