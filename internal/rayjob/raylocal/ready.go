package raylocal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// readyPoll is the time between two checks of a Ray that is starting.
const readyPoll = 50 * time.Millisecond

// started is what Ray prints when its start is over. Until then it may give up, although its parts respond.
const started = "Ray runtime started."

// ready waits until the start is over and the dashboard and the agent, which starts the jobs, respond.
func (l *Local) ready(ctx context.Context, cfg Config, agent string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, fmt.Errorf("the local Ray was not ready after %s", cfg.StartTimeout))
	defer cancel()
	if err := l.await(ctx, l.hasStarted); err != nil {
		return err
	}
	if err := l.await(ctx, func() bool { return l.get(ctx, l.Address+"/api/version") == nil }); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeoutCause(ctx, cfg.agentWait, errNoAgent)
	defer cancel()
	return l.await(ctx, func() bool { return l.get(ctx, agent+"/api/local_raylet_healthz") == nil })
}

// await checks a condition until it holds. It fails when the context or Ray itself ends.
func (l *Local) await(ctx context.Context, holds func() bool) error {
	ticks := time.NewTicker(readyPoll)
	defer ticks.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("start the local Ray: %w", errors.Join(context.Cause(ctx), l.logError()))
		case <-l.ended:
			return fmt.Errorf("start the local Ray: it ended immediately: %w", l.logError())
		case <-ticks.C:
		}
	}
	return nil
}

// hasStarted reports whether the log says that the start is over.
func (l *Local) hasStarted() bool {
	log, err := os.ReadFile(logPath(l.dir))
	return err == nil && strings.Contains(string(log), started)
}

// logError returns what the log says about a failed start.
func (l *Local) logError() error {
	log, err := os.ReadFile(logPath(l.dir))
	if err != nil {
		return err
	}
	if line := rayjob.LastError(string(log)); line != "" {
		return fmt.Errorf("%s (see %s)", line, logPath(l.dir))
	}
	return fmt.Errorf("see %s", logPath(l.dir))
}

// get makes one request with the token and returns nil for a 200.
func (l *Local) get(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-Ray-Authorization", "Bearer "+l.Token.Reveal())
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the local Ray answered with HTTP status %d", resp.StatusCode)
	}
	return nil
}
