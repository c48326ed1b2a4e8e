//go:build integration && soak

package faults

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// soakFault is one fault: begin starts it and returns what ends it.
type soakFault struct {
	name  string
	begin func(t *testing.T, s *soak) (end func(testing.TB))
}

func soakFaults() []soakFault {
	return []soakFault{
		{"a reset of RabbitMQ", func(t *testing.T, s *soak) func(testing.TB) { t.Helper(); s.amqp.reconnect(t); return nothing }},
		{"RabbitMQ behind a black hole", func(t *testing.T, s *soak) func(testing.TB) {
			t.Helper()
			return s.amqp.trouble(t, blackHole, blackHoleUp)
		}},
		{"half an ack", func(t *testing.T, s *soak) func(testing.TB) { t.Helper(); return s.amqp.trouble(t, halfAnAck) }},
		{"a slow RabbitMQ", func(t *testing.T, s *soak) func(testing.TB) { t.Helper(); return s.amqp.trouble(t, slow) }},
		{"RabbitMQ down", func(_ *testing.T, s *soak) func(testing.TB) { s.amqp.down(); return s.amqp.up }},
		{"a restart of RabbitMQ", func(t *testing.T, s *soak) func(testing.TB) {
			t.Helper()
			require.NoError(t, s.broker.Restart(t.Context()))
			return nothing
		}},
		{"kill -9 of RabbitMQ", func(t *testing.T, s *soak) func(testing.TB) {
			t.Helper()
			s.broker.Kill()
			return func(tb testing.TB) { tb.Helper(); require.NoError(tb, s.broker.Revive(tb.Context())) }
		}},
		{"a reset of Clowder", func(t *testing.T, s *soak) func(testing.TB) { t.Helper(); s.clowder.reconnect(t); return nothing }},
		{"Clowder behind a black hole", func(t *testing.T, s *soak) func(testing.TB) { t.Helper(); return s.clowder.trouble(t, blackHole) }},
		{"Clowder behind a bad line", func(t *testing.T, s *soak) func(testing.TB) { t.Helper(); return s.clowder.trouble(t, someBytes) }},
		{"a slow Clowder", func(t *testing.T, s *soak) func(testing.TB) { t.Helper(); return s.clowder.trouble(t, slow) }},
		{"Clowder down", func(_ *testing.T, s *soak) func(testing.TB) { s.clowder.down(); return s.clowder.up }},
		{"errors of Clowder before the effect", failing(clowdertest.Fault{Status: 500})},
		{"errors of Clowder after the effect", failing(clowdertest.Fault{Status: 502, After: true})},
		{"answers of Clowder that are cut", failing(clowdertest.Fault{Cut: -1})},
		{"too many requests for Clowder", failing(clowdertest.Fault{Status: 429})},
		{"kill -9 of the service", func(t *testing.T, s *soak) func(testing.TB) {
			t.Helper()
			s.service.Kill()
			return func(tb testing.TB) { tb.Helper(); s.service = s.startBlind(tb) }
		}},
		{"an orderly stop of the service", func(t *testing.T, s *soak) func(testing.TB) {
			t.Helper()
			require.NoError(t, s.service.Stop(time.Minute), s.service.Log())
			return func(tb testing.TB) { tb.Helper(); s.service = s.startBlind(tb) }
		}},
		{"a restart of Ray", func(_ *testing.T, s *soak) func(testing.TB) { s.Ray.Restart(); return nothing }},
		{"submissions to Ray that are not answered", func(_ *testing.T, s *soak) func(testing.TB) {
			s.Ray.Fault(3, http.MethodPost, "/api/jobs/", raytest.DropAnswer())
			return nothing
		}},
		{"a Ray that knows nothing", func(_ *testing.T, s *soak) func(testing.TB) {
			s.Ray.Fault(5, http.MethodGet, "/api/jobs/", raytest.Answer(http.StatusInternalServerError, "Traceback"))
			return nothing
		}},
	}
}

func nothing(testing.TB) {}

// inject begins a random fault for up to three seconds.
func (s *soak) inject(t *testing.T) {
	t.Helper()
	all := soakFaults()
	b := all[s.fate.IntN(len(all))]
	s.injected[b.name]++
	s.endFault = b.begin(t, s)
	s.until = time.Now().Add(time.Duration(s.fate.IntN(3000)) * time.Millisecond)
}

// trouble is inject with an end that closes the connections which are still in it.
func (p *proxy) trouble(tb testing.TB, faults ...string) func(testing.TB) {
	tb.Helper()
	end := p.inject(tb, faults...)
	return func(tb testing.TB) {
		tb.Helper()
		end()
		p.reconnect(tb)
	}
}

// failing lets what the service writes into Clowder fail, and some of what it reads; the user's own page works.
func failing(f clowdertest.Fault) func(*testing.T, *soak) func(testing.TB) {
	return func(_ *testing.T, s *soak) func(testing.TB) {
		for _, path := range []string{"/files", "/folders", "/metadata", "/visualizations", "/thumbnails"} {
			write := f
			write.Method, write.Path, write.Times = http.MethodPost, path, 3
			s.Clowder.Fail(write)
		}
		return func(testing.TB) { s.Clowder.ClearFaults() }
	}
}
