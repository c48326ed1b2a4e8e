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

// Announcement is what a process says of itself to everybody who listens, at once on every connection and then again and
// again. It is not confirmed: the next one makes good for a lost one.
type Announcement struct {
	// Exchange is a durable fanout exchange, made if it is missing. An empty name announces nothing.
	Exchange string
	// Every is the time between two announcements.
	Every time.Duration
	// Body returns what to send; it is called for each announcement.
	Body func() []byte
}

func (a Announcement) validate() error {
	if a.Exchange != "" && (a.Every <= 0 || a.Body == nil) {
		return errors.New("announcement: needs a body and a time between two of them")
	}
	return nil
}

// Publisher publishes messages one at a time, each confirmed before the next, on a connection of its own.
type Publisher struct {
	link         *link
	announcement Announcement
	requests     chan *request
	stopped      chan struct{}
	begun        atomic.Bool
}

// request is a message on its way, and where its fate is told.
type request struct {
	message Message
	fate    chan error
}

// NewPublisher returns a publisher, which Run sets to work.
func NewPublisher(cfg Config, a Announcement, log *zap.Logger, m *Metrics) (*Publisher, error) {
	if err := errors.Join(cfg.Validate(), a.validate()); err != nil {
		return nil, err
	}
	return &Publisher{
		link: newLink(connPublish, cfg.withDefaults(), log, m), announcement: a,
		requests: make(chan *request), stopped: make(chan struct{}),
	}, nil
}

// Ready reports whether the publisher has a working session. It stays true while the broker blocks publishers.
func (p *Publisher) Ready() bool { return p.link.up.Load() }

// Run keeps the connection until ctx ends, and then returns nil. A message under way gets Config.CloseTimeout for its
// confirm. It returns a ConfigError when only a person can help. It runs once.
func (p *Publisher) Run(ctx context.Context) error {
	if p.begun.Swap(true) {
		return errors.New("the publisher has run already")
	}
	defer close(p.stopped)
	return p.link.keep(ctx, p.serve)
}

// Publish returns nil when the broker has confirmed the message and has not returned it. It waits for a session, and for
// a broker that takes no messages for the moment, until ctx ends.
//
// Its errors are classified: retryable when the broker surely does not have the message, unknown when it may have it,
// permanent when it cannot take it; the last is ErrUnroutable where no queue has the routing key for its name.
func (p *Publisher) Publish(ctx context.Context, m Message) error {
	r := &request{message: m, fate: make(chan error, 1)}
	select {
	case p.requests <- r:
	case <-p.stopped:
		return job.Retryable(fmt.Errorf("publish to %q: %w", m.RoutingKey, ErrStopped))
	case <-ctx.Done():
		return job.Retryable(fmt.Errorf("publish to %q: wait for the broker: %w", m.RoutingKey, context.Cause(ctx)))
	}
	select {
	case err := <-r.fate:
		return err
	case <-ctx.Done():
		return job.Unknown(fmt.Errorf("publish to %q: wait for the confirm: %w", m.RoutingKey, context.Cause(ctx)))
	}
}
