//go:build !linux

package child

import "syscall"

// attributes give a process a group of its own, so that a Ctrl-C in the terminal does not reach it directly.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
