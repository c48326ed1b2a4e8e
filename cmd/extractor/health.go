package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
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
		return nil, fmt.Errorf("LISTEN: %w: set LISTEN to an address that is free, or to nothing", err)
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

// readyTimeout is the time limit for /readyz, which answers from memory.
const readyTimeout = 3 * time.Second

// maxReason is the longest reason in bytes that is printed.
const maxReason = 4 << 10

// readyCommand asks the service on this machine whether it is ready, for images without another HTTP client.
func (p *program) readyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ready", Short: "Check that the service on this machine is ready", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), readyTimeout)
			defer cancel()
			if err := askReady(ctx, set.Listen); err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.stdout, "ready")
			return err
		},
	}
}

// askReady sends a request to the service that listens on addr.
func askReady(ctx context.Context, addr string) error {
	if addr == "" {
		return job.Permanent(errors.New("LISTEN is empty, so the service has no health endpoint: set LISTEN to an address"))
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return job.Permanent(fmt.Errorf("LISTEN: %w", err))
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no service answers: start it with extractor serve, or set LISTEN to its address: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	reason, err := io.ReadAll(io.LimitReader(answer.Body, maxReason))
	if err == nil && answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the service on %s is not ready: %s", addr, strings.TrimSpace(string(reason)))
	}
	return err
}
