package queue

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// session is one connection and everything that was opened on it, with the number of the connection in its process.
type session struct {
	epoch  uint64
	conn   *amqp.Connection
	socket net.Conn
	// closed tells the end of the connection. It has room for what can come before somebody reads.
	closed chan *amqp.Error
	// failed takes the first reason from outside the connection to end it.
	failed chan error
	over   atomic.Bool
	wait   time.Duration
}

// dial opens a connection. The client's configuration is made anew each time, because the client writes into it, and its
// recovery stays off, for the reason in the package comment.
func (c Config) dial(ctx context.Context) (*session, error) {
	s := &session{
		closed: make(chan *amqp.Error, 1),
		failed: make(chan error, 1),
		wait:   c.CloseTimeout,
	}
	conf, err := c.client()
	if err != nil {
		return nil, err
	}
	// The client's handshake knows no context, so its end closes the socket under it.
	release := func() bool { return true }
	conf.Dial = func(network, addr string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: c.DialTimeout}
		socket, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		s.socket = socket
		release = context.AfterFunc(ctx, func() { _ = socket.Close() })
		return socket, socket.SetDeadline(time.Now().Add(c.DialTimeout))
	}
	s.conn, err = amqp.DialConfig(c.URI.Reveal(), conf)
	if !release() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if s.socket != nil {
			_ = s.socket.Close()
		}
		return nil, fmt.Errorf("connect to %s: %w", c.redacted(), err)
	}
	s.conn.NotifyClose(s.closed)
	return s, nil
}

// client is a fresh configuration for the client library.
func (c Config) client() (amqp.Config, error) {
	conf := amqp.Config{
		Heartbeat:  c.Heartbeat,
		Locale:     "en_US",
		Properties: amqp.Table{"product": "clowder-ray"},
	}
	if c.ConnectionName != "" {
		conf.Properties.SetClientConnectionName(c.ConnectionName)
	}
	if c.CAFile == "" && !c.InsecureTLS {
		return conf, nil // the client takes the system's certificates, or those that the address names
	}
	conf.TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: c.InsecureTLS, //nolint:gosec // a setting for development, off by default and logged
	}
	if c.CAFile != "" {
		// Read at each dial, so that a renewed file is taken without a restart.
		pool, err := c.rootCAs()
		if err != nil {
			return amqp.Config{}, fmt.Errorf("%s: %w", SettingCA, err)
		}
		conf.TLSClientConfig.RootCAs = pool
	}
	return conf, nil
}

// channel opens a channel and registers for its end.
func (s *session) channel() (*amqp.Channel, <-chan *amqp.Error, error) {
	ch, err := s.conn.Channel()
	if err != nil {
		return nil, nil, fmt.Errorf("open a channel: %w", err)
	}
	return ch, ch.NotifyClose(make(chan *amqp.Error, 1)), nil
}

// fail asks for the end of the session; the first reason counts.
func (s *session) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// bounded runs calls to the broker that must not hold up our stop: when they take too long the socket is closed under
// them. The client's calls know no context.
func (s *session) bounded(do func() error) error {
	timer := time.AfterFunc(s.wait, func() { _ = s.socket.Close() })
	defer timer.Stop()
	return do()
}

// end closes the connection, in an orderly way if the broker still answers. From here on no delivery of the session can
// be settled.
func (s *session) end() {
	s.over.Store(true)
	_ = s.conn.CloseDeadline(time.Now().Add(s.wait))
	// A connection that an error had closed already leaves nothing to do, and one that did not answer is closed here.
	_ = s.socket.Close()
}

// closeCause turns what a Notify channel gave into an error that says what ended.
func closeCause(what string, said *amqp.Error) error {
	if said == nil {
		return fmt.Errorf("%s was closed", what)
	}
	return fmt.Errorf("%s was closed: %w", what, said)
}

// gone maps the client's errors for a lost session to ErrSessionGone. Whatever else a write reports also ends the session,
// and nobody knows whether the broker read it, so that the broker delivers again is the right expectation in every case.
func gone(err error) error {
	if err == nil || errors.Is(err, amqp.ErrClosed) {
		if err == nil {
			return nil
		}
		return ErrSessionGone
	}
	return fmt.Errorf("%w: %w", ErrSessionGone, err)
}
