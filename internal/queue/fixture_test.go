//go:build integration

package queue

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
)

// The timeouts of the tests: soon is for events that happen at once, noticed for events that need heartbeats or a restart.
const (
	soon    = 15 * time.Second
	noticed = 60 * time.Second
)

// fixture is the virtual host of one test on a broker, with a plain client that inspects queues.
type fixture struct {
	testing.TB
	broker *broker.Broker
	// direct is the address of the broker; cfg.URI may go through a proxy.
	direct  string
	cfg     Config
	metrics *Metrics
	reg     *prometheus.Registry
	log     *zap.Logger
	logs    *observer.ObservedLogs
}

func newFixture(tb testing.TB) *fixture { tb.Helper(); return newFixtureOn(tb, broker.ForTest(tb)) }

func newFixtureOn(tb testing.TB, b *broker.Broker) *fixture {
	tb.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	f := &fixture{TB: tb, broker: b, direct: b.Vhost(tb), log: zap.New(core), logs: logs, reg: prometheus.NewRegistry()}
	f.metrics = NewMetrics(f.reg)
	f.cfg = Config{
		URI: job.Secret(f.direct), Queue: fmt.Sprintf("q-%d", time.Now().UnixNano()), ConnectionName: tb.Name(),
		BackoffMin: 10 * time.Millisecond, BackoffMax: 200 * time.Millisecond, DialTimeout: 5 * time.Second,
	}
	return f
}

// proxied puts a proxy between the configuration and the broker.
func (f *fixture) proxied() *toxiproxy.Proxy {
	f.Helper()
	srv := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(srv, "amqp", "127.0.0.1:0", f.broker.Addr())
	require.NoError(f, p.Start())
	f.Cleanup(p.Stop)
	u, err := url.Parse(f.direct)
	require.NoError(f, err)
	u.Host = p.Listen
	f.cfg.URI = job.Secret(u.String())
	return p
}

// fixedSlots always has the same number of free slots.
type fixedSlots int

func (s fixedSlots) Free() int            { return int(s) }
func (fixedSlots) Freed() <-chan struct{} { return nil }

// slots are free slots that a test changes.
type slots struct {
	mu    sync.Mutex
	free  int
	freed chan struct{}
}

func newSlots(free int) *slots { return &slots{free: free, freed: make(chan struct{}, 1)} }

func (s *slots) Free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free
}

func (s *slots) Freed() <-chan struct{} { return s.freed }

func (s *slots) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free += n
	if n > 0 {
		select {
		case s.freed <- struct{}{}:
		default:
		}
	}
}

// consume runs a consumer until the end of the test, waits until it is ready, and returns a function that stops it earlier.
func (f *fixture) consume(s Slots, h Handler) (c *Consumer, stop func() error) {
	f.Helper()
	c, err := NewConsumer(f.cfg, s, h, f.log, f.metrics)
	require.NoError(f, err)
	stop = f.run(c.Run)
	require.Eventually(f, c.Ready, soon, time.Millisecond)
	return c, stop
}

// publisher runs a publisher until the end of the test.
func (f *fixture) publisher(a Announcement) *Publisher {
	f.Helper()
	p, err := NewPublisher(f.cfg, a, f.log, f.metrics)
	require.NoError(f, err)
	f.run(p.Run)
	return p
}

// run calls run until the end of the test and requires that it ends in time and without error.
func (f *fixture) run(run func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-result:
			return err
		case <-time.After(soon):
			return fmt.Errorf("it did not stop in %s", soon)
		}
	})
	f.Cleanup(func() { require.NoError(f, stop()) })
	return stop
}

// channel is a plain channel to the broker, past every proxy.
func (f *fixture) channel() *amqp.Channel {
	f.Helper()
	conn, err := amqp.Dial(f.direct)
	require.NoError(f, err)
	f.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	require.NoError(f, err)
	return ch
}

// publish puts messages named 1 to n into the queue, made durable, and waits for the broker to have them.
func (f *fixture) publish(n int) {
	f.Helper()
	ch := f.channel()
	_, err := ch.QueueDeclare(f.cfg.Queue, true, false, false, false, nil)
	require.NoError(f, err)
	require.NoError(f, ch.Confirm(false))
	confirms := make([]*amqp.DeferredConfirmation, n)
	for i := range n {
		confirms[i], err = ch.PublishWithDeferredConfirm("", f.cfg.Queue, true, false, amqp.Publishing{
			Body: []byte(strconv.Itoa(i + 1)), DeliveryMode: amqp.Persistent, ReplyTo: "reply", CorrelationId: fmt.Sprint("c", i+1),
			Headers: amqp.Table{"nested": amqp.Table{"n": int32(i)}},
		})
		require.NoError(f, err)
	}
	for _, c := range confirms {
		require.True(f, c.Wait())
	}
}

// depth is what the broker says of the queue: messages ready for a consumer, and unacknowledged messages.
func (f *fixture) depth() (ready, unacked int) {
	f.Helper()
	return f.depthOf(f.cfg.Queue)
}

func (f *fixture) depthOf(queue string) (ready, unacked int) {
	f.Helper()
	u, err := url.Parse(f.direct)
	require.NoError(f, err)
	out := f.broker.MustEval(f, fmt.Sprintf(`case rabbit_amqqueue:lookup(rabbit_misc:r(<<"%s">>, queue, <<"%s">>)) of `+
		`{ok, Q} -> [{_, R}, {_, U}] = rabbit_amqqueue:info(Q, [messages_ready, messages_unacknowledged]), {R, U}; _ -> {-1, -1} end.`,
		u.Path[1:], queue))
	_, err = fmt.Sscanf(out, "{%d,%d}", &ready, &unacked)
	require.NoError(f, err, out)
	return ready, unacked
}

// requireDepth waits until the queue has these numbers of messages.
func (f *fixture) requireDepth(ready, unacked int) {
	f.Helper()
	var r, u int
	require.Eventually(f, func() bool {
		r, u = f.depth()
		return r == ready && u == unacked
	}, soon, 20*time.Millisecond, "the queue should have %d ready and %d unacknowledged", ready, unacked)
}

// get takes a message out of a queue, or returns nothing if that is empty.
func (f *fixture) get(queue string) (string, bool) {
	f.Helper()
	d, ok, err := f.channel().Get(queue, true)
	require.NoError(f, err)
	return string(d.Body), ok
}

// inbox collects deliveries for tests that settle them by hand.
type inbox chan *held

// held is a delivery whose handler waits for the test to release it.
type held struct {
	*Delivery
	release chan error
}

func newInbox() inbox { return make(inbox, 100) }

func (in inbox) handle(ctx context.Context, d *Delivery) error {
	h := &held{Delivery: d, release: make(chan error, 1)}
	in <- h
	select {
	case err := <-h.release:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// next returns the next delivery.
func (in inbox) next(tb testing.TB) *held {
	tb.Helper()
	select {
	case h := <-in:
		return h
	case <-time.After(noticed):
		require.FailNow(tb, "no delivery came")
		return nil
	}
}

// ack acknowledges and ends the handler's call.
func (h *held) ack(tb testing.TB) {
	tb.Helper()
	require.NoError(tb, h.Ack())
	h.release <- nil
}

// counter sums a metric of this package over its labels.
func (f *fixture) counter(name string) (sum float64) {
	f.Helper()
	families, err := f.reg.Gather()
	require.NoError(f, err)
	for _, family := range families {
		if family.GetName() == "clowder_ray_queue_"+name {
			for _, m := range family.GetMetric() {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}
