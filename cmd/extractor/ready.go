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

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/job"
)

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
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	reason, err := io.ReadAll(io.LimitReader(answer.Body, maxReason))
	if err == nil && answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the service on %s is not ready: %s", addr, strings.TrimSpace(string(reason)))
	}
	return err
}
