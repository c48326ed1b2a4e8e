package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Config says how the processes are started.
type Config struct {
	// Dir is an existing folder for the output of the attempts.
	Dir string
	// Env is added to what the processes inherit (rayjob.Inherited), KEY=value.
	Env []string
	// Grace is the time between the request to stop a training and its kill (default rayjob.StopGrace).
	Grace time.Duration
}

// Backend is a rayjob.Backend whose attempts are child processes. The caller closes it.
type Backend struct {
	cfg Config

	mu       sync.Mutex
	session  string
	attempts map[string]*process
}

var _ rayjob.Backend = (*Backend)(nil)

// New returns a backend without processes.
func New(cfg Config) *Backend {
	if cfg.Grace == 0 {
		cfg.Grace = rayjob.StopGrace * time.Second
	}
	return &Backend{cfg: cfg, session: uuid.NewString(), attempts: map[string]*process{}}
}

// Close kills all processes and forgets them: their attempts are lost.
func (b *Backend) Close() {
	b.mu.Lock()
	left := b.attempts
	b.attempts, b.session = map[string]*process{}, uuid.NewString()
	b.mu.Unlock()
	for _, p := range left {
		p.kill()
		<-p.done
	}
}

// Submit implements rayjob.Backend.
func (b *Backend) Submit(ctx context.Context, a rayjob.Attempt) (rayjob.Handle, error) {
	if err := a.Check(); err != nil {
		return rayjob.Handle{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	h := rayjob.Handle{Backend: job.WithoutRay, ID: a.Name(), Session: b.session}
	if p, ok := b.attempts[h.ID]; ok {
		if p.dir != a.Dir {
			return rayjob.Handle{}, job.Permanent(fmt.Errorf("another training has the name %s: its folder is %s", h.ID, p.dir))
		}
		return h, nil
	}
	p, err := start(ctx, a, b.environment(a), filepath.Join(b.cfg.Dir, h.ID+".txt"))
	if err != nil {
		return rayjob.Handle{}, job.Permanent(fmt.Errorf("start the training program: %w; set RAY_PYTHON to a Python that has its packages", err))
	}
	b.attempts[h.ID] = p
	return h, nil
}

// environment is that of a process: what it inherits, then the settings of this backend, then those of the attempt.
func (b *Backend) environment(a rayjob.Attempt) []string {
	env, path := rayjob.Inherited(a.Python)
	env = append(append(env, b.cfg.Env...), path)
	for key, value := range maps.All(a.Environment()) {
		env = append(env, key+"="+value)
	}
	return env
}

func (b *Backend) find(h rayjob.Handle) (*process, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.attempts[h.ID]
	return p, ok
}

// Observe implements rayjob.Backend. What it returns is always new.
func (b *Backend) Observe(_ context.Context, h rayjob.Handle, _ time.Duration) (rayjob.Observation, error) {
	p, ok := b.find(h)
	if !ok {
		return rayjob.Observation{Verdict: rayjob.Lost, Reason: "the program that carried out the training was restarted"}, nil
	}
	return p.observe(), nil
}

// stopPause is the time between two looks at a process that ends.
const stopPause = 100 * time.Millisecond

// Stop implements rayjob.Backend. A process that needs longer than the grace period is killed.
func (b *Backend) Stop(_ context.Context, h rayjob.Handle) error {
	p, ok := b.find(h)
	if !ok || p.stop(b.cfg.Grace) {
		return nil
	}
	return job.Later(stopPause, errors.New("waiting for the training to stop"))
}

// Logs implements rayjob.Backend.
func (b *Backend) Logs(_ context.Context, h rayjob.Handle, w io.Writer) (err error) {
	p, ok := b.find(h)
	if !ok {
		return rayjob.ErrNoLogs
	}
	f, err := os.Open(p.output)
	if err != nil {
		return errors.Join(rayjob.ErrNoLogs, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(w, f)
	return err
}

// Release implements rayjob.Backend.
func (b *Backend) Release(ctx context.Context, h rayjob.Handle) error {
	p, ok := b.find(h)
	if !ok {
		return nil
	}
	if err := b.Stop(ctx, h); err != nil {
		return err
	}
	b.mu.Lock()
	delete(b.attempts, h.ID)
	b.mu.Unlock()
	if err := os.Remove(p.output); err != nil && !errors.Is(err, os.ErrNotExist) {
		return job.Retryable(fmt.Errorf("remove the output of a training: %w", err))
	}
	return nil
}
