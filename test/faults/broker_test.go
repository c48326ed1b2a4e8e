//go:build integration

package faults

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

const (
	deliveries = "clowder_ray_queue_deliveries_total"
	settled    = "clowder_ray_queue_settled_total"
)

func TestAResetBetweenTheDeliveryAndTheRecord(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	service := s.start(t, nil)
	// Somebody holds the store, so the message is in hand and its record is not on disk.
	release := s.HoldStore(t)
	id := s.submit(t, nil)
	await(t, "the message does not come", func() bool { return s.metrics(t, service)[deliveries] == 1 })
	s.amqp.reconnect(t)
	release()
	s.succeeds(t, id)
	await(t, "it does not come again", func() bool { return s.metrics(t, service)[deliveries] >= 2 })
	s.check(t)
}

func TestAnAckThatIsLost(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"with a reset in its place": noByteUp, "half on the wire": halfAnAck, "in a black hole": blackHoleUp,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, broker.ForTest(t))
			service := s.start(t, nil)
			end := s.amqp.inject(t, fault)
			id := s.submit(t, nil)
			await(t, "the job is not accepted", func() bool { return len(s.Records(t)) == 1 })
			await(t, "it is not acknowledged", func() bool { return s.metrics(t, service)[settled] == 1 })
			end()
			s.amqp.reconnect(t)
			s.succeeds(t, id)
			await(t, "it does not come again", func() bool { return s.metrics(t, service)[deliveries] >= 2 })
			require.Contains(t, service.Log(), "message delivered again")
			s.check(t)
		})
	}
}

func TestRabbitMQIsNotThereAtTheStart(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	first := s.start(t, nil) // makes the queues
	require.NoError(t, first.Stop(time.Minute))
	s.amqp.down()
	id := s.submit(t, nil)
	service := s.startBlind(t)
	await(t, "it does not try", func() bool {
		return s.asks(t, service, "/metrics") == http.StatusOK && s.metrics(t, service)["clowder_ray_queue_session_errors_total"] >= 12
	})
	require.Equal(t, http.StatusOK, s.asks(t, service, "/livez"), "it is not restarted for a broker that is away")
	require.Equal(t, http.StatusServiceUnavailable, s.asks(t, service, "/readyz"))
	require.Less(t, strings.Count(service.Log(), "no broker session"), 12, "the same trouble of a session is told once a minute")
	s.amqp.up(t)
	s.succeeds(t, id)
	s.check(t)
}

func TestTheBrokerDiesAndStarvesUnderAJob(t *testing.T) {
	t.Parallel()
	node := broker.Own(t)
	s := newFixture(t, node)
	release := s.HoldTrainings()
	s.start(t, nil)
	first := s.submit(t, nil)
	s.training(t, 1)
	node.Kill()
	release() // the end comes while there is nobody to be told
	await(t, "the results are not delivered", func() bool {
		all := s.Records(t)
		return len(all) == 1 && all[0].Ending != nil
	})
	require.NoError(t, node.Revive(t.Context()))
	s.succeeds(t, first)

	release = s.HoldTrainings()
	second := s.submit(t, nil)
	s.training(t, 2)
	_, err := node.Ctl(t.Context(), "set_vm_memory_high_watermark", "0")
	require.NoError(t, err)
	release()
	await(t, "the results are not delivered", func() bool {
		all := s.Records(t)
		return len(all) == 2 && all[1].Ending != nil
	})
	_, err = node.Ctl(t.Context(), "set_vm_memory_high_watermark", "0.9")
	require.NoError(t, err)
	s.succeeds(t, second)
	s.check(t)
}

func TestTheConfirmOfTheLastWordIsLost(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	service := s.start(t, nil)
	s.Clowder.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/metadata", Delay: 5 * time.Second, Times: 1})
	id := s.submit(t, nil)
	await(t, "the delivery does not come to its end", func() bool { return s.Clowder.Requests(http.MethodPost, "/metadata") >= 1 })
	await(t, "statuses are not confirmed", func() bool {
		told := s.Clowder.ReceivedStatuses()
		return strings.HasPrefix(told[len(told)-1].Text, "Uploading") && s.metrics(t, service)["clowder_ray_queue_published_total"] >= float64(len(told))
	})
	end := s.amqp.inject(t, blackHole) // what the service says gets through, and no answer comes back
	s.succeeds(t, id)
	end()
	s.amqp.reconnect(t)
	s.check(t)
}

func TestMessagesThatAreMeantToHurt(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	service := s.start(t, nil)
	ch := s.channel(t)
	bodies := map[string]string{
		"ten megabytes": `{"job_id":"` + strings.Repeat("x", 10<<20) + `"}`,
		"deeply nested": strings.Repeat(`{"a":[`, 200_000),
		"no UTF-8":      "{\"job_id\":\"\xff\xfe\"}",
		"a NUL":         "{\"job_id\":\"\x00\"}",
		"wrong types":   `{"job_id":1e999,"datasetId":[],"parameters":"\ud800"}`,
		"nothing":       "",
	}
	for _, body := range bodies {
		publish(t, ch, amqp.Publishing{Body: []byte(body)})
	}
	id := s.submit(t, nil)
	s.succeeds(t, id)
	seen := map[string]int{}
	for range bodies {
		var d amqp.Delivery
		await(t, "a message is missing in the error queue", func() bool {
			var ok bool
			var err error
			d, ok, err = ch.Get("error."+stack.Extractor, true)
			return err == nil && ok
		})
		seen[string(d.Body)]++
	}
	for name, body := range bodies {
		require.Equal(t, 1, seen[body], name)
	}
	require.InDelta(t, len(bodies)+1, s.metrics(t, service)[deliveries], 0, "no message came twice")
	s.check(t)
}

func TestOneJobThatComesManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	release := s.HoldTrainings()
	service := s.start(t, nil)
	ch := s.channel(t)
	id := s.Clowder.AddJob(stack.User, s.Dataset, stack.Extractor)
	s.sent = append(s.sent, Sent{JobID: id, Confirmed: true})
	reply, err := ch.QueueDeclare("", false, true, true, false, nil)
	require.NoError(t, err)
	for range 20 {
		publish(t, ch, s.message(t, id, reply.Name, map[string]any{"epochs": 1}))
	}
	publish(t, ch, s.message(t, id, reply.Name, map[string]any{"epochs": 9}))
	await(t, "they are not all taken", func() bool { return s.metrics(t, service)[deliveries] == 21 })
	await(t, "they are not all settled", func() bool {
		q, err := ch.QueueDeclarePassive("error."+stack.Extractor, true, false, false, false, nil)
		return err == nil && q.Messages == 1
	})
	_, err = ch.QueueDelete(reply.Name, false, false, false) // and nobody reads statuses any more
	require.NoError(t, err)
	release()
	rec := s.AwaitRecords(t, 1)[0]
	require.InDelta(t, 1, rec.Settings.Values["epochs"], 0, "the first one wins")
	require.Equal(t, job.Done, rec.State, "heard or not")
	require.Contains(t, service.Log(), "reply queue is gone")
	s.sent[0].Confirmed = false // its last word went nowhere, as it should
	s.check(t)
}

// message is what Clowder v2 sends for a job.
func (s *fixture) message(tb testing.TB, id, reply string, parameters map[string]any) amqp.Publishing {
	tb.Helper()
	body, err := json.Marshal(map[string]any{
		"host": s.Clowder.URL, "secretKey": s.Clowder.Key(stack.User), "retry_count": 0, "resource_type": "dataset", "flags": "",
		"datasetName": "Reviews", "id": s.Dataset, "datasetId": s.Dataset, "job_id": id, "parameters": parameters,
	})
	require.NoError(tb, err)
	return amqp.Publishing{ContentType: "application/json", ReplyTo: reply, Body: body}
}
