package queue

import (
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// declareQueues makes the queue and its error queue if they are missing: durable and without arguments, as every program that
// shares them expects. A queue that an operator made with other arguments, for example a quorum queue, is used as it is.
func (s *session) declareQueues(queue string, log *zap.Logger) error {
	for _, name := range []string{queue, errorPrefix + queue} {
		err := s.declare(declaration{
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

// declareFanout makes the exchange for announcements if it is missing: durable, of the type fanout.
func (s *session) declareFanout(name string, log *zap.Logger) error {
	return s.declare(declaration{
		kind: "exchange", name: name, want: "a durable fanout exchange", setting: SettingURI,
		active: func(ch *amqp.Channel) error {
			return ch.ExchangeDeclare(name, amqp.ExchangeFanout, true, false, false, false, nil)
		},
		passive: func(ch *amqp.Channel) error {
			return ch.ExchangeDeclarePassive(name, amqp.ExchangeFanout, true, false, false, false, nil)
		},
	}, log)
}

// declaration is a queue or an exchange that must exist on the broker.
type declaration struct {
	kind, name, want, setting string
	active, passive           func(*amqp.Channel) error
}

// declare makes the object if it is missing. It declares an existing object as well, because a passive declaration compares
// nothing, and a queue that is not durable loses its messages when the broker restarts. Each step has its own channel, because a
// refusal closes the channel.
func (s *session) declare(d declaration, log *zap.Logger) error {
	found := s.withChannel(d.passive)
	if replyCode(found) == amqp.ResourceLocked {
		return exclusive(found, d.setting, d.kind, d.name)
	}
	if found != nil && replyCode(found) != amqp.NotFound {
		return fmt.Errorf("look up the %s %q: %w", d.kind, d.name, found)
	}
	err := s.withChannel(d.active)
	if err == nil {
		return nil
	}
	return d.refused(err, found == nil, log)
}

// refused handles the broker's refusal to declare an object: nil means that the existing object can be used.
func (d declaration) refused(err error, exists bool, log *zap.Logger) error {
	reply, _ := brokerReply(err)
	switch code := replyCode(err); {
	case code == amqp.PreconditionFailed && wrongProperty(reply.Reason):
		return configError(err, d.setting, "%q must be %s, but the broker has a different one (%s): delete it, or use another name or "+
			"virtual host", d.name, d.want, reply.Reason)
	case code == amqp.PreconditionFailed && exists:
		log.Debug("using an object with the arguments of the operator", zap.String(d.kind, d.name), zap.Error(err))
		return nil
	case code == amqp.PreconditionFailed:
		return configError(err, d.setting, "the %s %q is missing and the broker refuses to create it (%s)", d.kind, d.name, reply.Reason)
	case code == amqp.AccessRefused && exists:
		return nil // the user may not create it, and need not
	case code == amqp.AccessRefused:
		return configError(err, SettingURI, "the %s %q is missing and the user may not create it (%s): create it as %s, or give the user "+
			"configure permission", d.kind, d.name, reply.Reason, d.want)
	}
	return fmt.Errorf("declare the %s %q: %w", d.kind, d.name, err)
}

// exclusive is the error about an object that only another connection may use.
func exclusive(err error, setting, kind, name string) error {
	return configError(err, setting, "%s %q is exclusive to another connection: close that connection, or use another name", kind, name)
}

// withChannel runs a step on its own channel.
func (s *session) withChannel(step func(*amqp.Channel) error) error {
	ch, _, err := s.channel()
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }()
	return step(ch)
}

// wrongProperty reports whether the broker's object differs in a basic property, and not only in an optional argument. The broker
// names the first difference and compares arguments last: "inequivalent arg 'durable' for queue …".
func wrongProperty(reason string) bool {
	for _, property := range []string{"durable", "type", "auto_delete", "exclusive", "internal"} {
		if strings.Contains(reason, "inequivalent arg '"+property+"'") {
			return true
		}
	}
	return false
}
