// Package machine carries out the jobs of the command line on this machine.
package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/child"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
)

// Remedy says what to do when nothing can be trained on this machine.
const Remedy = "set RAY_PYTHON to a Python that has ray, torch and transformers; in a checkout of this project, make setup installs one that is found by itself"

// Config says how a Machine carries out attempts.
type Config struct {
	// Python is the interpreter, Env is added to what trainings inherit (rayjob.Inherited), and Dir is an existing folder for their files.
	Python string
	Env    []string
	Dir    string
	// OnlyRay uses Ray for attempts of one process, too.
	OnlyRay bool
	// Say tells the user that a Ray is started.
	Say func(string)
	// Poll is the longest time between two looks at Ray.
	Poll time.Duration
	Log  *zap.Logger
}

// Machine is a rayjob.Backend on this machine: it carries out attempts of one process without Ray, and those of several on a local Ray,
// which it starts when the first of them comes. The caller closes it.
type Machine struct {
	cfg       Config
	processes *child.Backend

	mu     sync.Mutex
	ray    *raylocal.Local // nil before the start
	client *jobsapi.Client
}

// New returns a machine that has started nothing.
func New(cfg Config) *Machine {
	return &Machine{cfg: cfg, processes: child.New(child.Config{Dir: cfg.Dir, Env: cfg.Env})}
}

var _ rayjob.Backend = (*Machine)(nil)

// Close ends what was started.
func (m *Machine) Close() error {
	m.processes.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ray == nil {
		return nil
	}
	m.client.CloseIdleConnections()
	return m.ray.Stop()
}

// Submit implements rayjob.Backend.
func (m *Machine) Submit(ctx context.Context, a rayjob.Attempt) (rayjob.Handle, error) {
	if a.Resources.Workers <= 1 && !m.cfg.OnlyRay {
		return m.processes.Submit(ctx, a)
	}
	client, err := m.onRay(ctx)
	if err != nil {
		return rayjob.Handle{}, job.Permanent(fmt.Errorf("%w\n%s", err, Remedy))
	}
	return client.Submit(ctx, a)
}

// onRay returns the client of the local Ray, which it starts if needed.
func (m *Machine) onRay(ctx context.Context) (*jobsapi.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client != nil {
		return m.client, nil
	}
	m.cfg.Say("Starting a local Ray")
	ray, err := raylocal.Start(ctx, raylocal.Config{Python: m.cfg.Python, Dir: filepath.Join(m.cfg.Dir, "ray"), Env: m.cfg.Env})
	if err != nil {
		return nil, err
	}
	cfg := jobsapi.Config{Address: ray.Address, TokenFile: ray.TokenFile, PollInterval: m.cfg.Poll, Instance: uuid.NewString()}
	client, err := jobsapi.New(cfg, m.cfg.Log)
	if err != nil {
		return nil, errors.Join(err, ray.Stop())
	}
	m.ray, m.client = ray, client
	return client, nil
}

// of returns the backend that made a handle.
func (m *Machine) of(h rayjob.Handle) rayjob.Backend {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !h.OnRay() || m.client == nil {
		return m.processes
	}
	return m.client
}

// Observe implements rayjob.Backend.
func (m *Machine) Observe(ctx context.Context, h rayjob.Handle, maxAge time.Duration) (rayjob.Observation, error) {
	return m.of(h).Observe(ctx, h, maxAge)
}

// Stop implements rayjob.Backend.
func (m *Machine) Stop(ctx context.Context, h rayjob.Handle) error { return m.of(h).Stop(ctx, h) }

// Logs implements rayjob.Backend.
func (m *Machine) Logs(ctx context.Context, h rayjob.Handle, w io.Writer) error {
	return m.of(h).Logs(ctx, h, w)
}

// Release implements rayjob.Backend.
func (m *Machine) Release(ctx context.Context, h rayjob.Handle) error { return m.of(h).Release(ctx, h) }
