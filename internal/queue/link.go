package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// refusals is how many refused logins in a row count as a wrong password. Some brokers answer a wrong password by closing
// the connection without a word, and so does a broker that is just being stopped.
const refusals = 3

// link keeps one connection to the broker for as long as the process wants it.
type link struct {
	name    string
	cfg     Config
	log     *zap.Logger
	metrics *Metrics
	up      atomic.Bool
	// epoch is the number of the last session that worked.
	epoch atomic.Uint64

	// The rest belongs to keep.
	refused int
	quiet   repeats
}

func newLink(name string, cfg Config, log *zap.Logger, m *Metrics) *link {
	log = log.Named("queue").With(zap.String("connection", name))
	if cfg.InsecureTLS {
		log.Warn("the broker's certificate is not checked; use this for development only")
	}
	return &link{name: name, cfg: cfg, log: log, metrics: m}
}

// keep runs work on one session after the other until ctx ends, and then returns nil. It returns earlier only with a
// ConfigError. work returns when its session is at its end; it calls ready once the session does what it is for.
func (l *link) keep(ctx context.Context, work func(ctx context.Context, s *session) error) error {
	return l.repeat(ctx, func(ctx context.Context) error { return l.once(ctx, work) })
}

// repeat calls once again and again, with a wait between two calls.
func (l *link) repeat(ctx context.Context, once func(ctx context.Context) error) error {
	wait := newBackoff(l.cfg.BackoffMin, l.cfg.BackoffMax)
	for ctx.Err() == nil {
		began := time.Now()
		err := once(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // whatever broke on the way, the end is what the caller asked for
		}
		if fault := l.fault(err); fault != nil {
			return fault
		}
		if time.Since(began) >= healthyAfter {
			wait.reset()
		}
		pause := wait.next()
		l.metrics.troubles.WithLabelValues(l.name).Inc()
		l.report(err, pause)
		sleep(ctx, pause)
	}
	return nil
}

func (l *link) once(ctx context.Context, work func(ctx context.Context, s *session) error) error {
	s, err := l.cfg.dial(ctx)
	if err != nil {
		return l.cfg.dialFault(err, l.epoch.Load() > 0)
	}
	defer func() {
		l.up.Store(false)
		l.metrics.connected.WithLabelValues(l.name).Set(0)
		s.end()
	}()
	s.epoch = l.epoch.Load() + 1
	return work(ctx, s)
}

// ready says that the session works. Until then a virtual host that does not let us in counts as a fault.
func (l *link) ready(s *session) {
	l.epoch.Store(s.epoch)
	l.up.Store(true)
	l.metrics.connected.WithLabelValues(l.name).Set(1)
	l.metrics.sessions.WithLabelValues(l.name).Inc()
	l.quiet.forget()
	l.log.Info("connected to the broker", zap.String("broker", l.cfg.redacted()), zap.Uint64("epoch", s.epoch))
}

// fault returns err if trying again cannot help.
func (l *link) fault(err error) error {
	if fault, ok := errors.AsType[*ConfigError](err); ok {
		return fault
	}
	if said, ok := serverError(err); ok && said.Code == amqp.AccessRefused {
		return configError(err, SettingURI, "the broker refuses us something that we need: give the user configure, write and "+
			"read permissions (%s)", said.Reason)
	}
	if !errors.Is(err, amqp.ErrCredentials) {
		l.refused = 0
		return nil
	}
	if l.refused++; l.refused < refusals {
		return nil
	}
	return l.cfg.refusedLogin(err)
}

// report logs why a session ended: at once when the reason is new, else at most once a minute.
func (l *link) report(err error, pause time.Duration) {
	times, speak := l.quiet.note(err.Error(), time.Now())
	if !speak {
		return
	}
	l.log.Warn("no broker session; trying again", zap.Error(err), zap.Duration("in", pause), zap.Int("same_again", times))
}

// repeats finds out whether a message is worth repeating.
type repeats struct {
	text  string
	said  time.Time
	times int
}

// note counts a message and reports whether it should be said now, and how often it was held back since the last time.
func (r *repeats) note(text string, now time.Time) (heldBack int, speak bool) {
	if text == r.text && now.Sub(r.said) < time.Minute {
		r.times++
		return 0, false
	}
	heldBack = 0
	if text == r.text {
		heldBack = r.times
	}
	r.text, r.said, r.times = text, now, 0
	return heldBack, true
}

// forget makes the next message a new one.
func (r *repeats) forget() { r.text = "" }
