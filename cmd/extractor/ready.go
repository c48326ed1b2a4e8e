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

// readyTimeout bounds the look at /readyz, which answers from memory.
const readyTimeout = 3 * time.Second

// maxWhy is the longest reason that is repeated.
const maxWhy = 4 << 10

// readyCommand asks the service beside it whether it is ready, for images that hold no other program that could.
func (p *program) readyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ready", Short: "Say whether the service that serves LISTEN on this machine is ready", Args: cobra.NoArgs,
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

// askReady asks the service that listens on addr, on whichever address of the machine that is.
func askReady(ctx context.Context, addr string) error {
	if addr == "" {
		return job.Permanent(errors.New("LISTEN is empty, so the service cannot be asked; give it an address"))
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
	why, err := io.ReadAll(io.LimitReader(answer.Body, maxWhy))
	if err == nil && answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the service on %s is not ready: %s", addr, strings.TrimSpace(string(why)))
	}
	return err
}
