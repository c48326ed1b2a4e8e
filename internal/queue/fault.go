package queue

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ErrSessionGone is returned when a delivery is settled after its session ended. The broker delivers the message again;
// whoever stored it durably will see it a second time, and that is normal.
var ErrSessionGone = errors.New("the broker session of this delivery is gone")

// ErrSettled is returned when a delivery is settled a second time.
var ErrSettled = errors.New("the delivery is settled already")

// ErrUnroutable is returned by Publish when no queue took the message.
var ErrUnroutable = errors.New("no queue takes the message")

// ErrStopped is returned by Publish after the publisher's end, and is the cause in a handler's context that ended with
// its consumer.
var ErrStopped = errors.New("the service is stopping")

// ConfigError says that the broker refuses what the configuration asks for, so that trying again cannot help.
type ConfigError struct {
	// Setting is the name under which the operator knows what to change.
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

// Unwrap returns what the broker or the network said.
func (e *ConfigError) Unwrap() error { return e.cause }

// serverError returns what the broker itself said, as opposed to what the client made of a lost connection.
func serverError(err error) (*amqp.Error, bool) {
	said, ok := errors.AsType[*amqp.Error](err)
	return said, ok && said.Server
}

// dialFault decides whether a connection that was refused can never succeed. Once a connection has succeeded only a
// refused login still counts: a virtual host or a certificate that was good is being worked on by somebody.
func (c Config) dialFault(err error, connected bool) error {
	uri, _ := amqp.ParseURI(c.URI.Reveal())
	if said, ok := serverError(err); ok {
		switch {
		case said.Code == amqp.AccessRefused:
			return c.refusedLogin(err)
		// 530 is also how the broker says that it has enough connections, which passes.
		case said.Code == amqp.NotAllowed && !connected && !strings.Contains(said.Reason, "limit"):
			return configError(err, SettingURI, "the broker lets %q not into the virtual host %q: make the host or give the user "+
				"permissions there, or correct the part after the last slash (%s)", uri.Username, uri.Vhost, said.Reason)
		}
		return err
	}
	if connected {
		return err
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return configError(err, SettingCA, "the certificate of %s is not trusted: name the file with the CA that signed it (%v)", c.redacted(), err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return configError(err, SettingURI, "%s does not speak TLS on this port: use amqp:// or the broker's TLS port", c.redacted())
	}
	return err
}

func (c Config) refusedLogin(err error) error {
	uri, _ := amqp.ParseURI(c.URI.Reveal())
	return configError(err, SettingURI, "the broker at %s refuses the user %q: correct the user or the password", c.redacted(), uri.Username)
}
