package broker

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// process is a child of ours that is waited for, so that its end is seen and it never stays a zombie.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// startProcess starts cmd in the process group of that leader; 0 makes it a leader itself. Its output goes to a file.
func startProcess(cmd *exec.Cmd, leader int, output string) (*process, error) {
	out, err := os.OpenFile(output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: leader}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait()
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process and waits for its end.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// reaper is a small shell that outlives us: it ends the process group of a broker when our end of its pipe closes,
// whether by Stop, by a panic or by kill -9.
type reaper struct {
	cmd   *exec.Cmd
	leash io.WriteCloser
}

func startReaper(group int, dir string) (*reaper, error) {
	const script = `cat
kill -9 "-$1" 2>/dev/null
for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 "-$1" 2>/dev/null || break; sleep 0.1; done
if [ -n "$2" ]; then rm -rf -- "$2"; fi`
	cmd := exec.Command("sh", "-c", script, "reaper", strconv.Itoa(group), dir) //nolint:noctx // it must outlive every call
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	leash, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	return &reaper{cmd: cmd, leash: leash}, nil
}

// dismiss ends the reaper and waits until it has done its work.
func (j *reaper) dismiss() error {
	if j == nil {
		return nil
	}
	_ = j.leash.Close()
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("end the reaper: %w", err)
	}
	return nil
}

// tail returns the end of a node's output for an error message.
func tail(file string) string {
	const most = 800
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}
