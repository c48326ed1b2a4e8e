package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncsa/clowder-ray/internal/job"
)

// lockStateDir locks the state folder until release is called or this process ends. Two services on one job store would do
// everything twice.
func lockStateDir(dir string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("STATE_DIR: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "service.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("STATE_DIR: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return f.Close, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = job.Permanent(fmt.Errorf("STATE_DIR: another service uses %s: stop it, or set STATE_DIR to another folder", dir))
	default:
		err = fmt.Errorf("STATE_DIR: lock %s: %w", f.Name(), err)
	}
	return nil, errors.Join(err, f.Close())
}
