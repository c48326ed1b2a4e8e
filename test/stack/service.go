// Package stack runs the service as a process of its own beside the parts that it needs, for the demo, the tests that kill
// it and the benchmarks.
package stack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/test/ports"
)

// Service is one run of the extractor as a process of its own.
type Service struct {
	cmd    *exec.Cmd
	health string
	exited chan struct{}
	err    error
	output *output
}

// StartService starts the program with the settings of env on top of this process's environment. Its log goes to log, if
// that is not nil, and is kept for Log.
func StartService(ctx context.Context, program string, env map[string]string, log io.Writer, args ...string) (*Service, error) {
	free, err := ports.Free(ctx, 1)
	if err != nil {
		return nil, err
	}
	listen := fmt.Sprintf("127.0.0.1:%d", free[0])
	s := &Service{health: "http://" + listen, exited: make(chan struct{}), output: &output{also: log}}
	// The process outlives ctx: it is for Stop and Kill to end it.
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, append([]string{"serve"}, args...)...)
	s.cmd.Env = append(os.Environ(), "LISTEN="+listen)
	for k, v := range env {
		s.cmd.Env = append(s.cmd.Env, k+"="+v)
	}
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the extractor: %w", err)
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.exited)
	}()
	return s, nil
}

// AwaitReady returns when /readyz says so, or with an error when the process ended before.
func (s *Service) AwaitReady(ctx context.Context) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.health+"/readyz", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(req); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the extractor is not ready: %w\n%s", ctx.Err(), s.Log())
		case <-s.exited:
			return fmt.Errorf("the extractor ended: %w\n%s", s.err, s.Log())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Exited is closed when the process has ended.
func (s *Service) Exited() <-chan struct{} { return s.exited }

// ExitCode is the code of a process that has ended.
func (s *Service) ExitCode() int { return s.cmd.ProcessState.ExitCode() }

// Stop asks for an orderly end and waits for it; after grace it kills.
func (s *Service) Stop(grace time.Duration) error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
		return s.err
	case <-time.After(grace):
		s.Kill()
		return errors.New("the extractor did not end in time")
	}
}

// Kill ends the process as kill -9 does and waits for its end.
func (s *Service) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// Log is everything that the process has written so far.
func (s *Service) Log() string { return s.output.String() }

// Pid is the process.
func (s *Service) Pid() int { return s.cmd.Process.Pid }

// Health is the address of the process's health server.
func (s *Service) Health() string { return s.health }

// output keeps what is written to it, and passes it on.
type output struct {
	mu   sync.Mutex
	kept strings.Builder
	also io.Writer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept.Write(p)
	if o.also != nil {
		return o.also.Write(p)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String()
}

// RayEnv starts the local Ray of dir with the program, or finds it running, and returns the settings that reach it.
func RayEnv(ctx context.Context, program, dir string) (map[string]string, error) {
	out, err := exec.CommandContext(ctx, program, "ray", "up", "--dir", dir).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return nil, fmt.Errorf("start a local Ray: %w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("start a local Ray: %w", err)
	}
	env := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		if k, v, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "="); ok {
			env[k] = strings.Trim(v, "'")
		}
	}
	return env, nil
}

// StopRay ends the local Ray of dir.
func StopRay(ctx context.Context, program, dir string) error {
	if out, err := exec.CommandContext(ctx, program, "ray", "down", "--dir", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("stop the local Ray: %w\n%s", err, out)
	}
	return nil
}
