//go:build integration

package queue

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkDeliverAck measures deliveries taken and acknowledged, with the default prefetch.
func BenchmarkDeliverAck(b *testing.B) {
	f := newFixture(b)
	f.publish(b.N)
	done := make(chan struct{})
	var n atomic.Int64
	b.ResetTimer()
	f.consume(fixedSlots(64), func(_ context.Context, d *Delivery) error {
		err := d.Ack()
		if n.Add(1) == int64(b.N) {
			close(done)
		}
		return err
	})
	<-done
}

// BenchmarkPublishConfirmed measures messages published one after the other, each confirmed by the broker.
func BenchmarkPublishConfirmed(b *testing.B) {
	f := newFixture(b)
	f.publish(0)
	p := f.publisher(Announcement{})
	for b.Loop() {
		require.NoError(b, p.Publish(b.Context(), Message{RoutingKey: f.cfg.Queue, Body: []byte("{}")}))
	}
}
