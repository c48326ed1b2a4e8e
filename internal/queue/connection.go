package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// maxRefusals is the number of refused logins in a row that count as a wrong password. Some brokers answer a wrong password by
// closing the connection without a reason. A broker that is being stopped does the same.
const maxRefusals = 3

// connection keeps one connection to the broker open, one session after the other.
type connection struct {
	name    string
	cfg     Config
	log     *zap.Logger
	metrics *Metrics
	up      atomic.Bool
	// epoch is the number of the last session that worked.
	epoch atomic.Uint64

	// Only run uses the fields below.
	refused int
	limit   logLimit
}

func newConnection(name string, cfg Config, log *zap.Logger, m *Metrics) *connection {
	log = log.Named("queue").With(zap.String("queue", cfg.Queue), zap.String("connection", name))
	return &connection{name: name, cfg: cfg, log: log, metrics: m}
}

// run calls work on one session after the other until ctx ends, and then returns nil. It returns earlier only with a ConfigError.
// work returns when its session has ended. It calls ready as soon as the session does its job.
func (c *connection) run(ctx context.Context, work func(ctx context.Context, s *session) error) error {
	return c.reconnect(ctx, func(ctx context.Context) error { return c.runSession(ctx, work) })
}

// reconnect calls runSession until ctx ends, with a back-off between two calls.
func (c *connection) reconnect(ctx context.Context, runSession func(ctx context.Context) error) error {
	wait := newBackoff(c.cfg.BackoffMin, c.cfg.BackoffMax)
	for ctx.Err() == nil {
		began := time.Now()
		err := runSession(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller asked for the end, so an error on the way does not matter
		}
		if permanent := c.permanentError(err); permanent != nil {
			return permanent
		}
		if time.Since(began) >= healthyAfter {
			wait.reset()
		}
		pause := wait.next()
		c.metrics.errors.WithLabelValues(c.name).Inc()
		c.logError(err, pause)
		sleep(ctx, pause)
	}
	return nil
}

func (c *connection) runSession(ctx context.Context, work func(ctx context.Context, s *session) error) error {
	s, err := c.cfg.dial(ctx)
	if err != nil {
		return c.cfg.dialError(err, c.epoch.Load() > 0)
	}
	defer func() {
		c.up.Store(false)
		c.metrics.connected.WithLabelValues(c.name).Set(0)
		s.end()
	}()
	s.epoch = c.epoch.Load() + 1
	return work(ctx, s)
}

// ready records that the session works. Before the first call, a refused virtual host counts as a ConfigError.
func (c *connection) ready(s *session) {
	c.epoch.Store(s.epoch)
	c.up.Store(true)
	c.metrics.connected.WithLabelValues(c.name).Set(1)
	c.metrics.sessions.WithLabelValues(c.name).Inc()
	c.limit.reset()
	c.log.Info("connected to the broker", zap.String("broker", c.cfg.redacted()), zap.Uint64("epoch", s.epoch))
}

// permanentError returns err as a ConfigError if another try cannot help.
func (c *connection) permanentError(err error) error {
	if permanent, ok := errors.AsType[*ConfigError](err); ok {
		return permanent
	}
	if reply, ok := brokerReply(err); ok && reply.Code == amqp.AccessRefused {
		return configError(err, SettingURI, "RabbitMQ denies access (%s): give the user configure, write and read permissions", reply.Reason)
	}
	if !errors.Is(err, amqp.ErrCredentials) {
		c.refused = 0
		return nil
	}
	if c.refused++; c.refused < maxRefusals {
		return nil
	}
	return c.cfg.loginRefused(err)
}

// logError logs why a session ended: a new reason at once, the same reason at most once a minute.
func (c *connection) logError(err error, pause time.Duration) {
	suppressed, ok := c.limit.allow(err.Error(), time.Now())
	if !ok {
		return
	}
	c.log.Warn("no broker session; reconnecting", zap.Error(err), zap.Duration("in", pause), zap.Int("suppressed", suppressed))
}

// logLimit decides whether a message is logged again.
type logLimit struct {
	text       string
	logged     time.Time
	suppressed int
}

// allow reports whether the message should be logged now, and how often it was suppressed since it was logged last.
func (l *logLimit) allow(text string, now time.Time) (suppressed int, ok bool) {
	if text == l.text && now.Sub(l.logged) < time.Minute {
		l.suppressed++
		return 0, false
	}
	if text == l.text {
		suppressed = l.suppressed
	}
	l.text, l.logged, l.suppressed = text, now, 0
	return suppressed, true
}

// reset makes the next message count as a new one.
func (l *logLimit) reset() { l.text = "" }
