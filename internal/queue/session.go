package queue

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// session is one connection with its channels. epoch is its number within the process.
type session struct {
	epoch  uint64
	conn   *amqp.Connection
	socket net.Conn
	// closed receives the reason for the end of the connection. It is buffered, because the client does not wait for a reader.
	closed chan *amqp.Error
	// failed receives the first reason from outside the connection to end it.
	failed chan error
	ended  atomic.Bool
	wait   time.Duration
}

// dial opens a connection. It makes a new client configuration for each connection, because the client writes into it. The
// recovery of the client stays off, for the reason in the package comment.
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
	// The handshake of the client takes no context, so the end of ctx closes its socket.
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

// client returns a new configuration for the client library.
func (c Config) client() (amqp.Config, error) {
	conf := amqp.Config{
		Heartbeat:  c.Heartbeat,
		Locale:     "en_US",
		Properties: amqp.Table{"product": "clowder-ray"},
	}
	if c.ConnectionName != "" {
		conf.Properties.SetClientConnectionName(c.ConnectionName)
	}
	if c.CAFile == "" {
		return conf, nil // the client uses the system's certificates, or the ones in the address
	}
	// The file is read for each connection, so that a renewed file needs no restart.
	pool, err := c.rootCAs()
	if err != nil {
		return amqp.Config{}, fmt.Errorf("%s: %w", SettingCA, err)
	}
	conf.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return conf, nil
}

// channel opens a channel and returns where its end is reported.
func (s *session) channel() (*amqp.Channel, <-chan *amqp.Error, error) {
	ch, err := s.conn.Channel()
	if err != nil {
		return nil, nil, fmt.Errorf("open a channel: %w", err)
	}
	return ch, ch.NotifyClose(make(chan *amqp.Error, 1)), nil
}

// endWith asks for the end of the session. The first reason counts.
func (s *session) endWith(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// bounded runs calls to the broker with a time limit: after it, the socket is closed and the calls fail. The calls of the client
// take no context.
func (s *session) bounded(do func() error) error {
	timer := time.AfterFunc(s.wait, func() { _ = s.socket.Close() })
	defer timer.Stop()
	return do()
}

// end closes the connection, in an orderly way if the broker still answers. After it, no delivery of the session can be settled.
func (s *session) end() {
	s.ended.Store(true)
	_ = s.conn.CloseDeadline(time.Now().Add(s.wait))
	// If an error has closed the connection before, this does nothing. If the broker did not answer, it closes the socket.
	_ = s.socket.Close()
}
