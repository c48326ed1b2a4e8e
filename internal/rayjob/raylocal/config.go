package raylocal

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Config says which Ray is started.
type Config struct {
	// Python is the interpreter of an environment that has ray[default]; a name is looked up on PATH.
	Python string
	// Dir is the folder of this Ray: its state and the token. It is made if needed.
	Dir string
	// NumCPUs and NumGPUs are what Ray hands out; 0 CPUs is all of the machine's, 0 GPUs those that Ray finds.
	NumCPUs, NumGPUs int
	// Env is added to the environment of every process, KEY=value.
	Env []string
	// ObjectStore is Ray's shared memory in bytes (200 MB: trainings pass their data through files).
	ObjectStore int64
	// StartTimeout bounds the wait until jobs are taken (90 s: imports are slow on a busy machine).
	StartTimeout time.Duration
	// Detached makes a Ray that outlives this program.
	Detached bool
}

const (
	defaultObjectStore  = 200_000_000
	defaultStartTimeout = 90 * time.Second
)

// prepared returns the configuration with defaults and with paths that are absolute.
func (c Config) prepared() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("no folder is given for the local Ray")
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
		return c, fmt.Errorf("find the Python of the local Ray: %w", err)
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
	if c.NumCPUs < 0 || c.NumGPUs < 0 || c.ObjectStore < 0 || c.StartTimeout < 0 {
		return c, errors.New("the numbers of a local Ray must not be negative")
	}
	for _, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			return c, errors.New("the environment of the local Ray is not a list of KEY=value")
		}
	}
	return c, nil
}
