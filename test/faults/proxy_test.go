//go:build integration

package faults

import (
	"context"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// proxy is a network connection that a test breaks and restores. It keeps its address.
type proxy struct {
	*toxiproxy.Proxy
	addr string
}

// newProxy puts a line before upstream, which ends with the test.
func newProxy(tb testing.TB, name, upstream string) *proxy {
	tb.Helper()
	srv := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(srv, name, "127.0.0.1:0", upstream)
	require.NoError(tb, p.Start())
	tb.Cleanup(p.Stop)
	return &proxy{Proxy: p, addr: p.Listen}
}

// down breaks the line: every connection is closed and none is taken.
func (p *proxy) down() { p.Stop() }

// up restores it. The kernel may need a moment to release the address.
func (p *proxy) up(tb testing.TB) {
	tb.Helper()
	p.Listen = p.addr
	require.Eventually(tb, func() bool { return p.Start() == nil }, stepTimeout, 10*time.Millisecond)
}

// reconnect closes every connection; the next ones work.
func (p *proxy) reconnect(tb testing.TB) {
	tb.Helper()
	p.down()
	p.up(tb)
}

// The faults of a line, as toxiproxy writes them.
const (
	blackHole   = `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`
	blackHoleUp = `{"type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`
	reset       = `{"type": "reset_peer", "attributes": {"timeout": 0}}`
	halfAnAck   = `{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 9}}`
	noByteUp    = `{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 0}}`
	someBytes   = `{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 600}}`
	slow        = `{"type": "latency", "attributes": {"latency": 300, "jitter": 200}}`
	thin        = `{"type": "bandwidth", "stream": "downstream", "attributes": {"rate": 20}}`
)

// inject puts faults on the line and returns a function that removes them.
func (p *proxy) inject(tb testing.TB, faults ...string) (end func()) {
	tb.Helper()
	var names []string
	for _, f := range faults {
		added, err := p.Toxics.AddToxicJson(strings.NewReader(f))
		require.NoError(tb, err)
		names = append(names, added.Name)
	}
	return func() {
		for _, name := range names {
			_ = p.Toxics.RemoveToxic(context.Background(), name) // the line may have been closed meanwhile
		}
	}
}
