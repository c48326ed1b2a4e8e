package child

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// process is one attempt. It has a process group of its own.
type process struct {
	dir, output string
	pid         int
	done        chan struct{} // closed when the process has ended

	mu      sync.Mutex
	stopped time.Time // when it was asked to stop
	end     rayjob.Observation
}

// start starts the training program for an attempt, which outlives ctx. Its output goes into a new file.
func start(ctx context.Context, a rayjob.Attempt, env []string, output string) (*process, error) {
	words := strings.Fields(a.Entrypoint()) // Check allows no character that a shell would read in another way
	cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], append(words[1:], "--launcher", "local")...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = env, a.Dir, attributes()
	file, err := os.OpenFile(output, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = file, file
	p := &process{dir: a.Dir, output: output, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the process when the thread that started it ends, so this thread stays as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = file.Close() }()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		p.ended(cmd.Wait())
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// ended records the end. Processes that the training has left behind are killed.
func (p *process) ended(err error) {
	p.kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(p.done)
	switch {
	case !p.stopped.IsZero():
		p.end = rayjob.Observation{Verdict: rayjob.Stopped, Reason: "the training was stopped"}
	case err == nil:
		p.end = rayjob.Observation{Verdict: rayjob.Succeeded}
	default:
		code := exitCode(err)
		failure := rayjob.Failure{ExitCode: &code, Message: "\n" + lastPart(p.output)}
		p.end = rayjob.Observation{Verdict: rayjob.Failed, Reason: failure.Reason()}
	}
}

// exitCode is the code of a process that failed, negative for a signal.
func exitCode(err error) int {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return 1
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return exit.ExitCode()
}

// maxTail is how many bytes at the end of an output are searched for the reason of a failure.
const maxTail = 64 << 10

func lastPart(output string) string {
	f, err := os.Open(output)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > maxTail {
		_, _ = f.Seek(-maxTail, io.SeekEnd)
	}
	raw, _ := io.ReadAll(io.LimitReader(f, maxTail)) // less of it explains less
	return string(raw)
}

func (p *process) observe() rayjob.Observation {
	select {
	case <-p.done:
		return p.end
	default:
		return rayjob.Observation{Verdict: rayjob.Running}
	}
}

// stop asks the process to end, kills it after the grace period, and reports whether it has ended.
func (p *process) stop(grace time.Duration) bool {
	select {
	case <-p.done:
		return true
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopped.IsZero():
		p.stopped = time.Now()
		_ = syscall.Kill(p.pid, syscall.SIGTERM) // it may have ended
	case time.Since(p.stopped) > grace:
		p.kill()
	}
	return false
}

// kill ends the process and all that it has started.
func (p *process) kill() { _ = syscall.Kill(-p.pid, syscall.SIGKILL) }
