package raylocal

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Config describes the Ray to start.
type Config struct {
	// Python is the interpreter of an environment that has ray[default]; a name is looked up on PATH.
	Python string
	// Dir is the folder of this Ray: its state and the token. It is created if needed.
	Dir string
	// NumCPUs and NumGPUs are the resources of this Ray; 0 means all CPUs of the machine and all GPUs that Ray finds.
	NumCPUs, NumGPUs int
	// Env is added to the environment of every process, KEY=value.
	Env []string
	// ObjectStore is Ray's shared memory in bytes (default 200 MB: trainings pass their data through files).
	ObjectStore int64
	// StartTimeout is the longest wait until Ray accepts jobs (default 3 minutes: imports are slow on a busy machine).
	StartTimeout time.Duration
	// Detached starts a Ray that keeps running after this program has ended.
	Detached bool

	// agentWait is the longest wait for the agent when the start of Ray is over (default 30 s: it is for an answer on a busy machine).
	agentWait time.Duration
}

const (
	defaultObjectStore  = 200_000_000
	defaultStartTimeout = 3 * time.Minute
	defaultAgentWait    = 30 * time.Second
)

// prepared returns the configuration with defaults and absolute paths.
func (c Config) prepared() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("the local Ray needs a folder")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, fmt.Errorf("find the folder of the local Ray: %w", err)
	}
	c.Dir = dir
	if c.Python == "" {
		c.Python = "python3"
	}
	python, err := exec.LookPath(c.Python)
	if err != nil {
		return c, fmt.Errorf("find the Python of the local Ray: %w: set RAY_PYTHON to an interpreter that has Ray", err)
	}
	if c.Python, err = filepath.Abs(python); err != nil {
		return c, fmt.Errorf("find the Python of the local Ray: %w", err)
	}
	if c.ObjectStore == 0 {
		c.ObjectStore = defaultObjectStore
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = defaultStartTimeout
	}
	if c.agentWait == 0 {
		c.agentWait = defaultAgentWait
	}
	return c, c.validate()
}

func (c Config) validate() error {
	if c.NumCPUs < 0 || c.NumGPUs < 0 || c.ObjectStore < 0 || c.StartTimeout < 0 {
		return errors.New("the CPUs, GPUs, object store and start timeout of the local Ray must not be negative")
	}
	for _, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			return errors.New("the environment of the local Ray must be a list of KEY=value")
		}
	}
	return nil
}
