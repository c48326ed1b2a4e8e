package raylocal

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// attributes gives Ray a session of its own, so that a Ctrl-C in the terminal does not reach it directly. The kernel ends an
// attached Ray when the thread that started it ends, which happens however this program ends.
func attributes(detached bool) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setsid: true}
	if !detached {
		attr.Pdeathsig = syscall.SIGTERM
	}
	return attr, nil
}

// lock keeps other programs from starting or stopping the Ray of a folder until unlock is called.
func lock(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of the local Ray: %w", err)
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR { //nolint:errorlint // a plain number
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock the folder of the local Ray: %w", err)
	}
	return f.Close, nil
}
