package queue

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ErrSessionGone is returned when a delivery is settled after its session ended. The broker delivers the message again, so a
// receiver that has stored it sees it twice.
var ErrSessionGone = errors.New("the broker session of this delivery has ended")

// ErrSettled is returned when a delivery is settled a second time.
var ErrSettled = errors.New("the delivery is already settled")

// ErrUnroutable is returned by Publish when no queue received the message.
var ErrUnroutable = errors.New("no queue receives the message")

// ErrStopped is returned by Publish after Run has ended. It is also the cause of a handler's context that ended with its consumer.
var ErrStopped = errors.New("the service is stopping")

// ConfigError is a refusal by the broker that another try cannot change: a person must change a setting or the broker.
type ConfigError struct {
	// Setting is the name of the setting to change, as the operator knows it.
	Setting string
	// Text says in one line what is wrong and what to do.
	Text string

	cause error
}

func configError(cause error, setting, format string, args ...any) *ConfigError {
	return &ConfigError{Setting: setting, Text: fmt.Sprintf(format, args...), cause: cause}
}

// Error returns the setting and the text.
func (e *ConfigError) Error() string { return e.Setting + ": " + e.Text }

// Unwrap returns the error of the broker or of the network.
func (e *ConfigError) Unwrap() error { return e.cause }

// brokerReply returns the broker's own reply in err, as opposed to an error that the client made of a lost connection.
func brokerReply(err error) (*amqp.Error, bool) {
	reply, ok := errors.AsType[*amqp.Error](err)
	return reply, ok && reply.Server
}

// replyCode returns the code of the broker's reply in err, or 0 if there is none.
func replyCode(err error) int {
	if reply, ok := brokerReply(err); ok {
		return reply.Code
	}
	return 0
}

// dialError returns err as a ConfigError if connecting can never succeed. After the first session only a refused login counts: a
// virtual host or a certificate that worked before is under maintenance.
func (c Config) dialError(err error, connected bool) error {
	uri, _ := amqp.ParseURI(c.URI.Reveal())
	if reply, ok := brokerReply(err); ok {
		switch {
		case reply.Code == amqp.AccessRefused:
			return c.loginRefused(err)
		// Code 530 also means that the connection limit is reached, which is temporary.
		case reply.Code == amqp.NotAllowed && !connected && !strings.Contains(reply.Reason, "limit"):
			return configError(err, SettingURI, "RabbitMQ denies user %q access to virtual host %q (%s): create the virtual host, grant "+
				"the user permissions on it, or correct the part after the last slash", uri.Username, uri.Vhost, reply.Reason)
		}
		return err
	}
	if connected {
		return err
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return configError(err, SettingCA, "the certificate of %s is not trusted (%v): set this to the file with the CA that signed it", c.redacted(), err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return configError(err, SettingURI, "%s does not speak TLS on this port: use amqp:// or the TLS port of the broker", c.redacted())
	}
	return err
}

func (c Config) loginRefused(err error) error {
	uri, _ := amqp.ParseURI(c.URI.Reveal())
	return configError(err, SettingURI, "the broker at %s refuses the user %q: correct the user or the password", c.redacted(), uri.Username)
}

// closeCause returns an error that says what was closed and why. reply comes from a Notify channel and may be nil.
func closeCause(what string, reply *amqp.Error) error {
	if reply == nil {
		return fmt.Errorf("%s was closed", what)
	}
	return fmt.Errorf("%s was closed: %w", what, reply)
}

// sessionError maps the client's errors for a lost session to ErrSessionGone. Any other write error also ends the session. Since
// it is not known whether the broker read the message, the receiver must expect it again in every case.
func sessionError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, amqp.ErrClosed):
		return ErrSessionGone
	default:
		return fmt.Errorf("%w: %w", ErrSessionGone, err)
	}
}
