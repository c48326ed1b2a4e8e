package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// process is a child of ours that is waited for, so that its end is seen and it never stays a zombie.
type process struct {
	cmd    *exec.Cmd
	log    string
	exited chan struct{}
}

// run starts cmd, which the caller kills and which dies with us at the latest; its output is appended to a file of its name in the plane's folder.
func (p *Plane) run(cmd *exec.Cmd) (*process, error) {
	child := &process{cmd: cmd, log: p.path(filepath.Base(cmd.Path) + ".log"), exited: make(chan struct{})}
	out, err := os.OpenFile(child.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go func() {
		defer close(child.exited)
		_ = cmd.Wait()
	}()
	return child, nil
}

// kill ends the process and waits for its end. It may be called twice.
func (c *process) kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
}

// tail is the end of the process's output, for an error message.
func (c *process) tail() string {
	const most = 4000
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}
