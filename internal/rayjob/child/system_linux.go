package child

import "syscall"

// attributes give a process a group of its own, so that a Ctrl-C in the terminal does not reach it directly. The kernel asks it to end
// when this program ends in any way.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
