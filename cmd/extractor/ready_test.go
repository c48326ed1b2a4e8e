package main

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestReadySaysWhatTheServiceSays(t *testing.T) {
	t.Parallel()
	var ready atomic.Bool
	says := func() error {
		if !ready.Load() {
			return errors.New("the disk is full")
		}
		return nil
	}
	h, err := newHealth(t.Context(), "127.0.0.1:0", prometheus.NewRegistry(), says, zap.NewNop())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	addr := h.listener.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)

	code, _, stderr := execute(t, t.TempDir(), "ready", "--listen", addr)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "is not ready: the disk is full")

	ready.Store(true)
	for name, listen := range map[string]string{"its address": addr, "all addresses": ":" + port, "all of IPv4": "0.0.0.0:" + port} {
		code, stdout, stderr := execute(t, t.TempDir(), "ready", "--listen", listen)
		require.Zero(t, code, "%s: %s", name, stderr)
		require.Equal(t, "ready\n", stdout, name)
	}
}

func TestReadyWithoutAServiceSaysSo(t *testing.T) {
	t.Parallel()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	for listen, want := range map[string]int{gone.Addr().String(): exitFailed, "": exitBadInput, "8780": exitBadInput} {
		code, _, stderr := execute(t, t.TempDir(), "ready", "--listen", listen)
		require.Equal(t, want, code, stderr)
	}
}
