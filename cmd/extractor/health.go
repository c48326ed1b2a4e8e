package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// health serves /livez, /readyz and /metrics. Live means that the process responds; it stays live during an outage of the broker,
// since a restart would not help. Ready means that the service accepts jobs.
type health struct {
	server   *http.Server
	listener net.Listener
	log      *zap.Logger
}

// newHealth listens on addr, the setting LISTEN. It returns nil if addr is empty.
func newHealth(ctx context.Context, addr string, reg *prometheus.Registry, ready func() error, log *zap.Logger) (*health, error) {
	if addr == "" {
		return nil, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("LISTEN: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	return &health{
		server:   &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
		listener: listener, log: log.Named("health"),
	}, nil
}

// Run serves until ctx ends.
func (h *health) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = h.server.Close() })
	defer stop()
	h.log.Info("serving /livez, /readyz and /metrics", zap.Stringer("address", h.listener.Addr()))
	if err := h.server.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
