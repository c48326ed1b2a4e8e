//go:build integration

package queue

import (
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/stretchr/testify/require"
)

// cut breaks all connections through the proxy. New connections work.
func cut(tb testing.TB, p *toxiproxy.Proxy) {
	tb.Helper()
	addr := p.Listen
	p.Stop()
	listen(tb, p, addr)
}

// listen starts the proxy on the address that it had before. The kernel may need a moment to release the address.
func listen(tb testing.TB, p *toxiproxy.Proxy, addr string) {
	tb.Helper()
	p.Listen = addr
	require.Eventually(tb, func() bool { return p.Start() == nil }, soon, 10*time.Millisecond)
}

// hold keeps an address that nobody listens on, so that each connection to it is refused: no other test listens there, and the kernel does not
// choose its port for the connection itself. release frees it.
func hold(tb testing.TB, addr string) (release func()) {
	tb.Helper()
	tcp, err := net.ResolveTCPAddr("tcp4", addr)
	require.NoError(tb, err)
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(tb, err)
	require.NoError(tb, syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	require.NoError(tb, syscall.Bind(socket, &syscall.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())}))
	return func() { require.NoError(tb, syscall.Close(socket)) }
}

// toxic adds a fault to the proxy and returns a function that removes it.
func toxic(tb testing.TB, p *toxiproxy.Proxy, json string) (remove func()) {
	tb.Helper()
	added, err := p.Toxics.AddToxicJson(strings.NewReader(json))
	require.NoError(tb, err)
	return func() { _ = p.Toxics.RemoveToxic(context.Background(), added.Name) }
}

func TestFaultsBetweenDeliveryAndAck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// fault happens while the handler holds the delivery. The returned function ends it.
		fault func(t *testing.T, p *toxiproxy.Proxy) (clearFault func())
		// lostAck: the ack returns no error and never reaches the broker.
		lostAck bool
	}{
		"the connection is cut": {fault: func(t *testing.T, p *toxiproxy.Proxy) func() {
			t.Helper()
			cut(t, p)
			return func() {}
		}},
		"the connection is reset": {fault: func(t *testing.T, p *toxiproxy.Proxy) func() {
			t.Helper()
			return toxic(t, p, `{"type": "reset_peer", "attributes": {"timeout": 0}}`)
		}},
		"the ack is written and lost on the wire": {lostAck: true, fault: func(t *testing.T, p *toxiproxy.Proxy) func() {
			t.Helper()
			return toxic(t, p, `{"type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`)
		}},
		"half of the ack arrives": {lostAck: true, fault: func(t *testing.T, p *toxiproxy.Proxy) func() {
			t.Helper()
			return toxic(t, p, `{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 9}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.cfg.Heartbeat = 2 * time.Second
			proxy := f.proxied()
			f.publish(1)
			in := newInbox()
			c, _ := f.consume(fixedSlots(8), in.handle)

			first := in.next(t)
			require.False(t, first.Redelivered)
			epoch := c.conn.epoch.Load()
			clearFault := tc.fault(t, proxy)
			if tc.lostAck {
				first.ack(t)
				// The broker would miss the heartbeats after a while. This is faster and has the same effect.
				cut(t, proxy)
			}
			require.Eventually(t, func() bool { return f.counter("session_errors_total") > 0 }, soon, time.Millisecond)
			clearFault()
			second := in.next(t)
			require.True(t, second.Redelivered)
			require.Equal(t, "1", string(second.Body))
			require.Greater(t, c.conn.epoch.Load(), epoch)
			if !tc.lostAck {
				require.ErrorIs(t, first.Ack(), ErrSessionGone)
				first.release <- nil
			}
			second.ack(t)
			f.requireDepth(0, 0)
		})
	}
}

// The regression test for the reason why the recovery of the client stays off: with it, the late ack of message 2 was sent with the
// number 2 on a channel that counts from 1 again, and removed message 3, which no handler had seen.
func TestALateAckTouchesNoOtherMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := f.proxied()
	f.publish(3)
	in := newInbox()
	f.consume(fixedSlots(8), in.handle)
	one, two, three := in.next(t), in.next(t), in.next(t)
	one.ack(t)
	f.requireDepth(0, 2)

	cut(t, proxy)
	again := []*held{in.next(t), in.next(t)}
	require.ErrorIs(t, two.Ack(), ErrSessionGone)
	require.ErrorIs(t, three.Requeue(), ErrSessionGone)
	two.release <- nil
	three.release <- nil

	// The acks of the old session have changed nothing: both messages are still unsettled and are delivered again.
	f.requireDepth(0, 2)
	cut(t, proxy)
	var bodies []string
	for range 2 {
		h := in.next(t)
		bodies = append(bodies, string(h.Body))
		h.ack(t)
	}
	require.ElementsMatch(t, []string{string(two.Body), string(three.Body)}, bodies)
	f.requireDepth(0, 0)
	for _, h := range again {
		require.ErrorIs(t, h.Ack(), ErrSessionGone)
		h.release <- nil
	}
}

func TestConsumesAgainSoonAfterAReset(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := f.proxied()
	f.cfg.BackoffMin, f.cfg.BackoffMax = 0, 0 // the defaults
	in := newInbox()
	f.consume(fixedSlots(8), in.handle)
	cut(t, proxy)
	begun := time.Now()
	f.publish(1)
	in.next(t).ack(t)
	require.Less(t, time.Since(begun), 5*time.Second)
}

func TestABlackHoleIsNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.publisher(Announcement{}) // not through the proxy, and with a heartbeat that a busy broker can keep
	require.Eventually(t, p.Ready, soon, time.Millisecond)
	f.cfg.Heartbeat = 2 * time.Second
	proxy := f.proxied()
	f.publish(1)
	in := newInbox()
	c, _ := f.consume(fixedSlots(8), in.handle)
	first := in.next(t)

	both := []func(){
		toxic(t, proxy, `{"type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`),
		toxic(t, proxy, `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`),
	}
	begun := time.Now()
	require.Eventually(t, func() bool { return !c.Ready() }, noticed, 10*time.Millisecond)
	require.Less(t, time.Since(begun), 3*f.cfg.Heartbeat)
	require.ErrorIs(t, first.Ack(), ErrSessionGone)
	first.release <- nil
	require.True(t, p.Ready())
	require.NoError(t, p.Publish(t.Context(), Message{RoutingKey: f.cfg.Queue, Body: []byte("2")}))
	for _, clearFault := range both {
		clearFault()
	}
	in.next(t).ack(t)
	in.next(t).ack(t)
	f.requireDepth(0, 0)
}

func TestStopsInTimeInABlackHole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.cfg.CloseTimeout = 200 * time.Millisecond
	proxy := f.proxied()
	f.publish(1)
	in := newInbox()
	_, stop := f.consume(fixedSlots(8), in.handle)
	first := in.next(t)
	toxic(t, proxy, `{"type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`)
	toxic(t, proxy, `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`)
	first.release <- nil
	begun := time.Now()
	require.NoError(t, stop())
	require.Less(t, time.Since(begun), 5*time.Second)
	f.requireDepth(1, 0)
}

func TestTheStartWaitsForABrokerThatIsDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := f.proxied()
	addr := proxy.Listen
	proxy.Stop()
	release := hold(t, addr)
	in := newInbox()
	c, err := NewConsumer(f.cfg, fixedSlots(8), in.handle, f.log, f.metrics)
	require.NoError(t, err)
	f.run(c.Run)
	require.Eventually(t, func() bool { return f.counter("session_errors_total") >= 10 }, soon, 10*time.Millisecond)
	require.False(t, c.Ready())
	require.Equal(t, 1, f.logs.FilterMessage("no broker session; reconnecting").Len(), "the same error is logged once a minute")

	release()
	listen(t, proxy, addr)
	f.publish(1)
	in.next(t).ack(t)
	require.True(t, c.Ready())
}

func TestNoPasswordInLogsAndErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proxy := f.proxied()
	in := newInbox()
	f.consume(fixedSlots(8), in.handle)
	cut(t, proxy)
	require.Eventually(t, func() bool { return f.counter("session_errors_total") > 0 }, soon, time.Millisecond)
	require.NotZero(t, f.logs.Len())
	for _, entry := range f.logs.All() {
		require.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), "guest:guest")
	}
}
