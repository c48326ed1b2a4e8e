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

// Slots tells how many more deliveries the process can accept. A delivery that became a job lowers Free before it is acknowledged.
// The consumer itself counts the deliveries whose handler is still running.
type Slots interface {
	// Free returns how many more deliveries may be accepted now; 0 or less means none.
	Free() int
	// Freed signals that Free may have grown. A channel with room for one signal is enough.
	Freed() <-chan struct{}
}

// Handler handles one delivery and settles it. It is called concurrently for up to Config.MaxPrefetch deliveries. Its context ends
// Config.DrainTimeout after the context of Run, so that handlers can finish.
//
// An error ends the session without an ack: the broker delivers the message again after a back-off. To return nil without settling
// the delivery is such an error.
type Handler func(ctx context.Context, d *Delivery) error

// Consumer receives deliveries from a queue while there are free slots.
type Consumer struct {
	conn   *connection
	slots  Slots
	handle Handler

	// handlers are the running calls, running is their number, and unsettled is the number of their unsettled deliveries.
	handlers           sync.WaitGroup
	running, unsettled atomic.Int64
	// changed signals that one of these numbers became smaller.
	changed chan struct{}
	// oneByOne is how many more small messages must come until the prefetch is raised above 1 again. Only the loop of the session
	// uses it.
	oneByOne int
	started  atomic.Bool
	drained  sync.Once
	// declared is closed when the queues exist for the first time.
	declared   chan struct{}
	declaredOf sync.Once
}

// NewConsumer returns a consumer of cfg.Queue. Run starts it.
func NewConsumer(cfg Config, slots Slots, handle Handler, log *zap.Logger, m *Metrics) (*Consumer, error) {
	if err := errors.Join(cfg.Validate(), cfg.needsQueue()); err != nil {
		return nil, err
	}
	return &Consumer{
		conn: newConnection(connConsume, cfg.withDefaults(), log, m), slots: slots, handle: handle,
		changed: make(chan struct{}, 1), declared: make(chan struct{}),
	}, nil
}

func (c Config) needsQueue() error {
	if c.Queue == "" {
		return fmt.Errorf("%s: set the name of the queue", SettingQueue)
	}
	return nil
}

// Ready reports whether the consumer has a working session, also while it waits for a free slot.
func (c *Consumer) Ready() bool { return c.conn.up.Load() }

// Declared is closed when the queues exist. An extractor that announces itself earlier may lose jobs, because Clowder would publish
// them to a queue that does not exist.
func (c *Consumer) Declared() <-chan struct{} { return c.declared }

// Run consumes until ctx ends, and reconnects after each loss of the connection. Then it returns nil: messages that no handler has
// seen are back in the queue, and all handlers have returned. It returns a ConfigError if another try cannot help. It may be called
// once.
func (c *Consumer) Run(ctx context.Context) error {
	if c.started.Swap(true) {
		return errors.New("the consumer was already run")
	}
	work, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	err := c.conn.run(ctx, func(ctx context.Context, s *session) error {
		return c.serve(ctx, work, s)
	})
	c.drained.Do(c.drain)
	abandon(ErrStopped)
	c.handlers.Wait()
	return err
}

// drain waits for the running handlers for at most Config.DrainTimeout.
func (c *Consumer) drain() {
	timer := time.NewTimer(c.conn.cfg.DrainTimeout)
	defer timer.Stop()
	for c.running.Load() > 0 {
		select {
		case <-c.changed:
		case <-timer.C:
			c.conn.log.Warn("handlers did not finish in time", zap.Int64("handlers", c.running.Load()))
			return
		}
	}
}

const (
	// largeMessage is the size in bytes from which a message counts as large. Messages that become jobs have a few kilobytes.
	largeMessage = 256 << 10
	// smallBeforeMany is how many small messages must come after a large one until the prefetch is raised above 1 again.
	smallBeforeMany = 16
)

// recordSize lowers the prefetch to 1 after a large message. The broker counts messages and not bytes, so a full prefetch of large
// messages would fill the memory.
func (c *Consumer) recordSize(bytes int) {
	if bytes > largeMessage {
		c.oneByOne = smallBeforeMany
	} else if c.oneByOne > 0 {
		c.oneByOne--
	}
}

// dispatch starts a handler for a delivery, or puts the delivery back into the queue if there is no free slot.
func (c *Consumer) dispatch(work context.Context, s *session, sub *subscription, raw amqp.Delivery, stopping bool) {
	m := c.conn.metrics
	c.recordSize(len(raw.Body))
	if stopping || int64(c.slots.Free()) <= c.unsettled.Load() {
		m.returned.Inc()
		// An error here means that the session has ended, and then the broker puts the message back by itself.
		_ = raw.Nack(false, true)
		return
	}
	m.deliveries.WithLabelValues(strconv.FormatBool(raw.Redelivered)).Inc()
	d := &Delivery{
		Body: raw.Body, ReplyTo: raw.ReplyTo, CorrelationID: raw.CorrelationId, ContentType: raw.ContentType,
		Headers: fromTable(raw.Headers), Redelivered: raw.Redelivered, Received: time.Now(),
		session: s, raw: raw.Acknowledger, tag: raw.DeliveryTag,
		outcome: func(outcome string) { m.settled.WithLabelValues(outcome).Inc() },
		release: func() {
			sub.unsettled.Add(-1)
			m.unsettled.Set(float64(c.unsettled.Add(-1)))
			c.wake()
		},
	}
	sub.unsettled.Add(1)
	m.unsettled.Set(float64(c.unsettled.Add(1)))
	c.running.Add(1)
	c.handlers.Go(func() {
		defer c.wake()
		defer c.running.Add(-1)
		defer d.releaseSlot()
		if err := c.call(work, d); err != nil {
			m.failures.Inc()
			s.endWith(fmt.Errorf("handle a delivery: %w", err))
		}
	})
}

// call runs the handler. A panic fails this delivery only and not the process.
func (c *Consumer) call(ctx context.Context, d *Delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.conn.log.Error("the handler panicked", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			err = errors.New("the handler panicked")
		}
	}()
	if err := c.handle(ctx, d); err != nil {
		return err
	}
	if !d.settled.Load() {
		return errors.New("the handler did not settle the delivery")
	}
	return nil
}

// wake wakes the loops that wait for a change of the counters.
func (c *Consumer) wake() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}
