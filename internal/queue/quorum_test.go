//go:build integration

package queue

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
)

// TestAVirtualHostOfQuorumQueuesKeepsTransientMessages is what the README advises against the loss of Clowder's messages.
func TestAVirtualHostOfQuorumQueuesKeepsTransientMessages(t *testing.T) {
	t.Parallel()
	f := newFixtureOn(t, broker.Own(t))
	for _, args := range [][]string{{"add_vhost", "clowder", "--default-queue-type", "quorum"}, {"set_permissions", "-p", "clowder", "guest", ".*", ".*", ".*"}} {
		_, err := f.broker.Ctl(t.Context(), args...)
		require.NoError(t, err)
	}
	f.direct = f.broker.URI() + "clowder"
	f.cfg.URI = job.Secret(f.direct)
	_, stop := f.consume(fixedSlots(0), newInbox().handle) // makes the queues as it always does
	require.NoError(t, stop())
	ch := f.channel()
	require.NoError(t, ch.Confirm(false)) // Clowder does not wait for it; the test must not restart the broker before
	for range 3 {
		confirm, err := ch.PublishWithDeferredConfirm("", f.cfg.Queue, false, false, amqp.Publishing{Body: []byte("{}"), DeliveryMode: amqp.Transient})
		require.NoError(t, err)
		require.True(t, confirm.Wait())
	}
	require.NoError(t, f.broker.Restart(t.Context()))

	in := newInbox()
	f.consume(fixedSlots(3), in.handle)
	for range 3 {
		in.next(t).ack(t)
	}
	require.Eventually(t, func() bool {
		n, err := Depth(t.Context(), f.cfg)
		return err == nil && n == 0
	}, soon, 10*time.Millisecond)
}
