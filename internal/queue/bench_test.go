//go:build integration

package queue

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
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

// BenchmarkTakeIn measures deliveries that are written to a disk before they are acknowledged, as jobs are, by how many the broker
// may send ahead.
func BenchmarkTakeIn(b *testing.B) {
	for _, prefetch := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprintf("prefetch %d", prefetch), func(b *testing.B) {
			store, err := job.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "jobs.db"))
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, store.Close()) })
			f := newFixture(b)
			f.cfg.MaxPrefetch = prefetch
			f.publish(b.N)
			done := make(chan struct{})
			var n atomic.Int64
			b.ResetTimer()
			f.consume(fixedSlots(64), func(ctx context.Context, d *Delivery) error {
				m := n.Add(1)
				if _, _, err := store.Accept(ctx, job.New(fmt.Sprintf("ft-%d", m), job.Train, job.Request{Key: "k"}, "key")); err != nil {
					return err
				}
				err := d.Ack()
				if m == int64(b.N) {
					close(done)
				}
				return err
			})
			<-done
		})
	}
}
