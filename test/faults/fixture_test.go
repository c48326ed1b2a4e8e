//go:build integration

package faults

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestMain(m *testing.M) {
	// toxiproxy leaves the goroutines of a connection behind that ends while a fault of the line holds its bytes.
	goleak.VerifyTestMain(broker.Main(m),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"))
}

// stepTimeout is how long a test waits for one step.
const stepTimeout = stack.StepTimeout

// fixture adds to a stack.Fixture proxies before RabbitMQ and Clowder, which can fail, and records everything that the checker needs.
type fixture struct {
	*stack.Fixture
	broker *broker.Broker
	// uri leads to the broker past the line.
	uri           string
	amqp, clowder *proxy
	services      []*stack.Service
	sent          []Sent
	// datasets are those that jobs are about: Dataset, and others that a test has made.
	datasets []string
	// baseline is what the gauges of the first service showed before the first job.
	baseline map[string]float64

	mu        sync.Mutex
	trainings []string
	env       map[string]string
}

// newFixture builds a fixture on a broker.
func newFixture(tb testing.TB, b *broker.Broker) *fixture {
	tb.Helper()
	s := &fixture{broker: b, uri: b.Vhost(tb), env: map[string]string{}}
	s.Fixture = stack.NewFixtureOn(tb, program(tb), s.uri, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
	s.datasets = []string{s.Dataset}
	s.amqp = newProxy(tb, "amqp", b.Addr())
	u, err := url.Parse(s.uri)
	require.NoError(tb, err)
	u.Host = s.amqp.addr
	s.Env["RABBITMQ_URI"] = u.String()
	u, err = url.Parse(s.Clowder.URL)
	require.NoError(tb, err)
	s.clowder = newProxy(tb, "clowder", u.Host)
	s.Env["CLOWDER_URL"] = "http://" + s.clowder.addr
	s.Env["LOG_FORMAT"] = "json"
	s.OnTraining(s.noteTraining)
	return s
}

// noteTraining notes an attempt that Ray starts.
func (s *fixture) noteTraining(d raytest.Driver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trainings = append(s.trainings, d.ID)
	s.env["the environment of "+d.ID] = fmt.Sprint(d.Env, d.Metadata, d.Entrypoint)
}

// start starts the service and reads its gauges before the first job.
func (s *fixture) start(tb testing.TB, env map[string]string) *stack.Service {
	tb.Helper()
	service := s.Start(tb, env)
	s.services = append(s.services, service)
	ctx, cancel := context.WithTimeout(tb.Context(), stepTimeout)
	defer cancel()
	require.NoError(tb, service.AwaitReady(ctx))
	if s.baseline == nil {
		s.baseline = s.metrics(tb, service)
	}
	return service
}

// startBlind starts the service where Clowder cannot be asked whether it is there.
func (s *fixture) startBlind(tb testing.TB) *stack.Service {
	tb.Helper()
	service, err := stack.StartService(tb.Context(), program(tb), s.Env, nil)
	require.NoError(tb, err)
	tb.Cleanup(service.Kill)
	s.services = append(s.services, service)
	return service
}

// submit submits the dataset. The message reaches RabbitMQ past the broken line, and so is certain to be there.
func (s *fixture) submit(tb testing.TB, parameters map[string]any) string {
	tb.Helper()
	return s.submitTo(tb, stack.Extractor, parameters)
}

func (s *fixture) submitTo(tb testing.TB, extractor string, parameters map[string]any) string {
	tb.Helper()
	id := s.SubmitTo(tb, extractor, s.Dataset, parameters)
	s.sent = append(s.sent, Sent{JobID: id, Confirmed: true})
	return id
}

// succeeds waits for the good end of a job.
func (s *fixture) succeeds(tb testing.TB, id string) {
	tb.Helper()
	last, updates := s.AwaitJob(tb, id)
	require.Equal(tb, "SUCCEEDED", last.Status, "%v", updates)
}

// await waits until something is so.
func await(tb testing.TB, what string, so func() bool) {
	tb.Helper()
	require.Eventually(tb, so, stepTimeout, 50*time.Millisecond, what)
}

// training waits until Ray runs the n-th attempt.
func (s *fixture) training(tb testing.TB, n int64) {
	tb.Helper()
	await(tb, "no training has begun", func() bool { return s.Trainings.Load() == n })
}

// channel speaks to the broker past the line.
func (s *fixture) channel(tb testing.TB) *amqp.Channel {
	tb.Helper()
	conn, err := amqp.Dial(s.uri)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = conn.Close() }) // the broker may be gone
	ch, err := conn.Channel()
	require.NoError(tb, err)
	require.NoError(tb, ch.Confirm(false))
	return ch
}

// publish sends a message that somebody else than Clowder writes.
func publish(tb testing.TB, ch *amqp.Channel, m amqp.Publishing) {
	tb.Helper()
	m.DeliveryMode = amqp.Persistent
	confirm, err := ch.PublishWithDeferredConfirmWithContext(tb.Context(), "", stack.Extractor, true, false, m)
	require.NoError(tb, err)
	confirmed, err := confirm.WaitContext(tb.Context())
	require.NoError(tb, err)
	require.True(tb, confirmed)
}

// asks is the answer of a page of the service's health server, 0 where there is none yet.
func (s *fixture) asks(tb testing.TB, service *stack.Service, page string) int {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, service.Health()+page, nil)
	require.NoError(tb, err)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer http.DefaultClient.CloseIdleConnections()
	require.NoError(tb, answer.Body.Close())
	return answer.StatusCode
}

// metrics reads all counters and gauges of a service, each family summed up.
func (s *fixture) metrics(tb testing.TB, service *stack.Service) map[string]float64 {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, service.Health()+"/metrics", nil)
	require.NoError(tb, err)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(tb, err)
	defer http.DefaultClient.CloseIdleConnections()
	defer func() { require.NoError(tb, answer.Body.Close()) }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	require.NoError(tb, err)
	all := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			all[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}
