//go:build !linux

package disk

import (
	"errors"
	"os"
)

const (
	nonblock   = 0
	folderOnly = 0
)

// Free is not known on this system.
func Free(string) (int64, bool) { return 0, false }

// linkAt is not supported on this system. The caller copies instead.
func linkAt(_ *os.File, _ string, _ *os.File, _ string) error { return errors.ErrUnsupported }

// TryLock locks nothing on this system and reports true.
func TryLock(*os.File) (bool, error) { return true, nil }

// Exchange is not supported on this system. The caller renames instead.
func Exchange(_ *os.Root, _, _ string) error { return errors.ErrUnsupported }

// openBelow is not supported on this system.
func openBelow(_, _ string) (*os.Root, bool) { return nil, false }

// freshSize: callers open the file themselves.
func freshSize(string, string) (int64, error) { return 0, errors.ErrUnsupported }
