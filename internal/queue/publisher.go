package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Announcement is a message that a process sends to all listeners: at once on each connection, and then periodically. It is not
// confirmed, because the next one replaces a lost one.
type Announcement struct {
	// Exchange is a durable fanout exchange, which is created if it is missing. With an empty name nothing is announced.
	Exchange string
	// Every is the time between two announcements.
	Every time.Duration
	// Body returns the message. It is called for each announcement.
	Body func() []byte
	// Binding is made before an announcement, so that its listeners find it.
	Binding Binding
}

func (a Announcement) validate() error {
	if a.Exchange != "" && (a.Every <= 0 || a.Body == nil) {
		return errors.New("announcement: Body and Every are required")
	}
	return nil
}

// Publisher publishes messages on its own connection, one at a time: each is confirmed before the next. It is safe for concurrent
// use.
type Publisher struct {
	conn         *connection
	announcement Announcement
	requests     chan *request
	stopped      chan struct{}
	started      atomic.Bool
	// unheard says that the newest announcement reached nobody.
	unheard atomic.Bool
}

// request is a message to publish, and where its result is sent.
type request struct {
	message Message
	result  chan error
}

// NewPublisher returns a publisher. Run starts it.
func NewPublisher(cfg Config, a Announcement, log *zap.Logger, m *Metrics) (*Publisher, error) {
	if err := errors.Join(cfg.Validate(), a.validate()); err != nil {
		return nil, err
	}
	return &Publisher{
		conn: newConnection(connPublish, cfg.withDefaults(), log, m), announcement: a,
		requests: make(chan *request), stopped: make(chan struct{}),
	}, nil
}

// Ready reports whether the publisher has a working session. It stays true while the broker blocks publishers.
func (p *Publisher) Ready() bool { return p.conn.up.Load() }

// Run publishes until ctx ends, and then returns nil. It waits up to Config.CloseTimeout for the confirm of a message in flight. It
// returns a ConfigError if another try cannot help. It may be called once.
func (p *Publisher) Run(ctx context.Context) error {
	if p.started.Swap(true) {
		return errors.New("the publisher was already run")
	}
	defer close(p.stopped)
	return p.conn.run(ctx, p.serve)
}

// Publish returns nil when the broker has confirmed the message and has not returned it. While there is no session, or while the
// broker blocks publishers, it waits until ctx ends.
//
// Its errors are classified: retryable if the broker does not have the message, unknown if it may have it, and permanent if it
// refuses it. The permanent error is ErrUnroutable if no queue has the routing key as its name.
func (p *Publisher) Publish(ctx context.Context, m Message) error {
	r := &request{message: m, result: make(chan error, 1)}
	select {
	case p.requests <- r:
	case <-p.stopped:
		return job.Retryable(fmt.Errorf("publish to %q: %w", m.RoutingKey, ErrStopped))
	case <-ctx.Done():
		return job.Retryable(fmt.Errorf("publish to %q: wait for the broker: %w", m.RoutingKey, context.Cause(ctx)))
	}
	select {
	case err := <-r.result:
		return err
	case <-ctx.Done():
		return job.Unknown(fmt.Errorf("publish to %q: wait for the confirm: %w", m.RoutingKey, context.Cause(ctx)))
	}
}
