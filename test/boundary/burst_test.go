//go:build integration

package boundary

import (
	"strconv"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/stack"
)

// hostileMessages are bodies of about size bytes that no Clowder sends. Most have the key and the ids of a good one, so that they
// are not refused before they are looked at; NUMBER stands for the number of the message.
func hostileMessages(size int) []string {
	long := strings.Repeat("x", size)
	wide := "[" + strings.Repeat("[],", size/3) + "[]]"
	head := `{"job_id":"hostile-NUMBER","resource_type":"dataset","id":"655fd7c3e4b0a1b2c3d4e5f6","datasetId":"655fd7c3e4b0a1b2c3d4e5f6","secretKey":"k","host":"http://x",`
	return []string{
		head + `"parameters":{"epochs":` + wide + `}}`,
		head + `"parameters":{"` + long + `":1}}`,
		head + `"parameters":"` + strings.Repeat(`\\\"`, size/4) + `"}`,
		head + `"metadata":` + wide + `}`,
		head + strings.Repeat(`"a":1,`, size/6) + `"b":1}`,
		head + `"parameters":` + strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60) + `}`,
		head + `"datasetName":"` + long + `"}`,
		strings.Repeat("[", size),
		"\x00\xff not JSON",
		long,
	}
}

func TestABurstOfHostileMessagesHarmsNobody(t *testing.T) {
	t.Parallel()
	const hostile, good = 1000, 200
	s := newFixture(t, map[string]string{"MAX_JOBS": "64"})
	conn, err := amqp.Dial(s.Env["RABBITMQ_URI"])
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	ch, err := conn.Channel()
	require.NoError(t, err)
	large, usual := hostileMessages(4<<20-1000), hostileMessages(20<<10)
	var ids []string
	for i := range hostile {
		body := usual[i%len(usual)]
		if i < 2*len(large) {
			body = large[i%len(large)]
		}
		body = strings.Replace(body, "NUMBER", strconv.Itoa(i), 1)
		require.NoError(t, ch.PublishWithContext(t.Context(), "", stack.Extractor, true, false, amqp.Publishing{
			ContentType: "application/json", DeliveryMode: amqp.Persistent, Body: []byte(body),
		}))
		if i%(hostile/good) == 0 {
			ids = append(ids, s.Submit(t, s.Dataset, map[string]any{"dry_run": true})) // a check: drawing the plots of so many trainings takes minutes
		}
	}
	require.Len(t, ids, good)
	for _, id := range ids {
		last, updates := s.AwaitJob(t, id)
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	}
	s.requireIntact(t, maxMemory)
}
