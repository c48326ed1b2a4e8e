package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// Slots says how many more deliveries the process can take. A delivery that became a job lowers Free before it is
// acknowledged; deliveries that are still with the handler are counted here and not by Slots.
type Slots interface {
	// Free returns how many more may be taken now; 0 or less means none.
	Free() int
	// Freed signals that Free may have grown. A channel with room for one signal is enough.
	Freed() <-chan struct{}
}

// Handler takes one delivery and settles it. It is called for several deliveries at once, up to the prefetch. Its context
// goes on after the end of Run's for Config.DrainTimeout, so that what is in hand can be finished.
//
// An error ends the session without an ack: the broker delivers the message again, after a back-off. Returning nil with
// the delivery unsettled is such an error.
type Handler func(ctx context.Context, d *Delivery) error

// Consumer takes deliveries from the queue for as long as there are free slots.
type Consumer struct {
	link   *link
	slots  Slots
	handle Handler

	// handlers are running calls; running is their number, and inHand the number of their unsettled deliveries.
	handlers        sync.WaitGroup
	running, inHand atomic.Int64
	// changed signals that one of these numbers fell.
	changed chan struct{}
	// heavy is how many more light deliveries it takes until several are asked for at once again. Only the session's loop uses it.
	heavy   int
	begun   atomic.Bool
	drained sync.Once
	// declared is closed when the queues are there for the first time.
	declared   chan struct{}
	declaredOf sync.Once
}

// NewConsumer returns a consumer of cfg.Queue, which Run sets to work.
func NewConsumer(cfg Config, slots Slots, handle Handler, log *zap.Logger, m *Metrics) (*Consumer, error) {
	if err := errors.Join(cfg.Validate(), cfg.needsQueue()); err != nil {
		return nil, err
	}
	return &Consumer{
		link: newLink(connConsume, cfg.withDefaults(), log, m), slots: slots, handle: handle,
		changed: make(chan struct{}, 1), declared: make(chan struct{}),
	}, nil
}

func (c Config) needsQueue() error {
	if c.Queue == "" {
		return fmt.Errorf("%s: a queue is needed", SettingQueue)
	}
	return nil
}

// Ready reports whether the consumer has a working session. A consumer that waits for a free slot is ready.
func (c *Consumer) Ready() bool { return c.link.up.Load() }

// Declared is closed once the queues were seen to be there. An extractor that announces itself before is sent jobs that
// go nowhere.
func (c *Consumer) Declared() <-chan struct{} { return c.declared }

// Run consumes until ctx ends, through every loss of the connection, and then returns nil: it has given back what no
// handler had seen, and every handler has returned. It returns a ConfigError when only a person can help. It runs once.
func (c *Consumer) Run(ctx context.Context) error {
	if c.begun.Swap(true) {
		return errors.New("the consumer has run already")
	}
	work, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	err := c.link.keep(ctx, func(ctx context.Context, s *session) error {
		return c.serve(ctx, work, s)
	})
	c.drained.Do(c.drain)
	abandon(ErrStopped)
	c.handlers.Wait()
	return err
}

// drain waits for the running handlers, but not for ever.
func (c *Consumer) drain() {
	timer := time.NewTimer(c.link.cfg.DrainTimeout)
	defer timer.Stop()
	for c.running.Load() > 0 {
		select {
		case <-c.changed:
		case <-timer.C:
			c.link.log.Warn("handlers take too long to end", zap.Int64("handlers", c.running.Load()))
			return
		}
	}
}

const (
	// heavyBytes is a large message. Those that become jobs have some kilobytes.
	heavyBytes = 256 << 10
	// calm is how many light messages must come after a heavy one before several are asked for at once again.
	calm = 16
)

// weigh notes how large the messages are that come. The broker counts messages and not bytes, so a sender of large ones would
// fill the memory with as many of them as are asked for: they come one at a time.
func (c *Consumer) weigh(bytes int) {
	if bytes > heavyBytes {
		c.heavy = calm
	} else if c.heavy > 0 {
		c.heavy--
	}
}

// take hands a delivery to the handler, or gives it back if there is no room for it.
func (c *Consumer) take(work context.Context, s *session, sub *subscription, raw amqp.Delivery, stopping bool) {
	m := c.link.metrics
	c.weigh(len(raw.Body))
	if stopping || int64(c.slots.Free()) <= c.inHand.Load() {
		m.givenBack.Inc()
		// An error here means that the session is at its end, and then the broker takes the message back by itself.
		_ = raw.Nack(false, true)
		return
	}
	m.deliveries.WithLabelValues(strconv.FormatBool(raw.Redelivered)).Inc()
	d := &Delivery{
		Body: raw.Body, ReplyTo: raw.ReplyTo, CorrelationID: raw.CorrelationId, ContentType: raw.ContentType,
		Headers: plain(raw.Headers), Redelivered: raw.Redelivered, Received: time.Now(),
		session: s, raw: raw.Acknowledger, tag: raw.DeliveryTag,
		outcome: func(outcome string) { m.settled.WithLabelValues(outcome).Inc() },
		release: func() {
			sub.inHand.Add(-1)
			m.inHand.Set(float64(c.inHand.Add(-1)))
			c.poke()
		},
	}
	sub.inHand.Add(1)
	m.inHand.Set(float64(c.inHand.Add(1)))
	c.running.Add(1)
	c.handlers.Go(func() {
		defer c.poke()
		defer c.running.Add(-1)
		defer d.free()
		if err := c.call(work, d); err != nil {
			m.failures.Inc()
			s.fail(fmt.Errorf("handle a delivery: %w", err))
		}
	})
}

// call runs the handler. A panic is one delivery's trouble and not the end of everybody's jobs.
func (c *Consumer) call(ctx context.Context, d *Delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.link.log.Error("the handler panicked", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			err = errors.New("the handler panicked")
		}
	}()
	if err := c.handle(ctx, d); err != nil {
		return err
	}
	if !d.settled.Load() {
		return errors.New("the handler returned without settling it")
	}
	return nil
}

// poke wakes whoever waits for room.
func (c *Consumer) poke() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}
