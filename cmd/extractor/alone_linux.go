package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncsa/clowder-ray/internal/job"
)

// alone keeps other services from the state folder until release is called or this process is gone, however it goes. Two of
// them on one store would each do what is due, and so do it twice.
func alone(dir string) (release func() error, err error) {
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
		err = job.Permanent(fmt.Errorf("STATE_DIR: another service works on the jobs in %s: stop it, or give this one a folder of its own", dir))
	default:
		err = fmt.Errorf("STATE_DIR: lock %s: %w", f.Name(), err)
	}
	return nil, errors.Join(err, f.Close())
}
