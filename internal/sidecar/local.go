package sidecar

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// LocalConfig describes a process on this machine.
type LocalConfig struct {
	// Name is what errors and the log call the process: "the answer process".
	Name string
	// Python is an interpreter that has what the process imports.
	Python string
	// Trainer returns the folder to put on PYTHONPATH. It is asked before each start.
	Trainer func() (string, error)
	// Arguments follow "python -m trainer". With them the process must end when its standard input ends.
	Arguments []string
	// TokenVariable is the environment variable in which the process finds the token that it asks for.
	TokenVariable string
	// StartTimeout is the longest wait until it answers (default 60 s).
	StartTimeout time.Duration
	Log          *zap.Logger
}

const (
	defaultStart = time.Minute
	// restAfterFailure is the time after a failed start in which questions fail without another one.
	restAfterFailure = 10 * time.Second
	// endGrace is how long the process may take to end after its input was closed.
	endGrace = 3 * time.Second
)

// Local starts a process when it is needed and none runs. At most one runs at a time.
type Local struct {
	cfg LocalConfig

	mu      sync.Mutex
	running *process // nil before the first question
	ready   time.Time
	failed  time.Time
	failure error
	closed  bool
}

// process is one that was started.
type process struct {
	place Endpoint
	input io.Closer     // its end ends the process
	ended chan struct{} // closed after the process was waited for
	kill  func() error
}

// NewLocal returns a process that can be started; nothing is started yet. It returns None if the interpreter does not exist.
func NewLocal(cfg LocalConfig) Process {
	python, err := exec.LookPath(cfg.Python)
	if err != nil {
		return None{}
	}
	cfg.Python = python
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, defaultStart)
	return &Local{cfg: cfg}
}

// At returns the running process, and starts one if there is none. Others that ask meanwhile wait for the same start.
func (l *Local) At(ctx context.Context, gone string) (Endpoint, error) {
	asked := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return Endpoint{}, ErrNotSetUp
	}
	if l.running != nil && !l.running.hasEnded() {
		if l.running.place.URL != gone {
			place := l.running.place
			place.Woken = l.ready.After(asked)
			return place, nil
		}
		l.running.end() // it runs and does not answer
	}
	l.running = nil
	if l.failure != nil && time.Since(l.failed) < restAfterFailure {
		return Endpoint{}, l.failure
	}
	// A visitor who leaves must not end a start that others wait for.
	started, err := l.start(context.WithoutCancel(ctx))
	if err != nil {
		l.cfg.Log.Warn("cannot start "+l.cfg.Name, zap.Error(err))
		l.failed, l.failure = time.Now(), fmt.Errorf("%w: %s cannot be started, the log of the service says why", ErrNotSetUp, l.cfg.Name)
		if missing, ok := errors.AsType[*MissingError](err); ok {
			l.failure = errors.Join(ErrNotSetUp, missing)
		}
		return Endpoint{}, l.failure
	}
	l.failure, l.running, l.ready = nil, started, time.Now()
	place := started.place
	place.Woken = true
	return place, nil
}

// Close ends the process and returns when it has ended. No other is started.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.running != nil {
		l.running.end()
	}
	return nil
}

// start starts a process and waits until it has printed its port.
func (l *Local) start(ctx context.Context) (*process, error) {
	trainer, err := l.cfg.Trainer()
	if err != nil {
		return nil, fmt.Errorf("install the trainer: %w", err)
	}
	token := job.Secret(rand.Text())
	arguments := append([]string{"-B", "-m", "trainer"}, l.cfg.Arguments...)
	cmd := exec.Command(l.cfg.Python, arguments...) //nolint:noctx // end ends it
	cmd.Env = environment(trainer, l.cfg.TokenVariable, token)
	cmd.Dir = os.TempDir()
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errs := &tail{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{input: input, ended: make(chan struct{}), kill: cmd.Process.Kill}
	first := make(chan ready, 1)
	go func() {
		defer close(p.ended)
		first <- firstLine(printed)
		_, _ = io.Copy(io.Discard, printed) // it prints no more
		if err := cmd.Wait(); err != nil {
			l.cfg.Log.Warn(l.cfg.Name+" has ended", zap.Error(err), zap.String("said", errs.String()))
		}
	}()
	if err := p.wait(ctx, first, l.cfg.StartTimeout); err != nil {
		p.end()
		return nil, fmt.Errorf("%w: %s", err, cmp.Or(errs.String(), "it said nothing"))
	}
	p.place.Token = token
	return p, nil
}

// ready is the first line that a process prints.
type ready struct {
	Port int `json:"port"`
	// Missing is the package without which it cannot serve.
	Missing string `json:"missing"`
}

// wait waits for the port.
func (p *process) wait(ctx context.Context, first <-chan ready, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was not ready after %s", limit))
	defer cancel()
	select {
	case said := <-first:
		if said.Missing != "" {
			return &MissingError{said.Missing}
		}
		if said.Port < 1 || said.Port > 65535 {
			return errors.New("it ended before it was ready")
		}
		p.place.URL = "http://127.0.0.1:" + strconv.Itoa(said.Port)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// end ends the process and waits for it.
func (p *process) end() {
	_ = p.input.Close()
	grace := time.NewTimer(endGrace)
	defer grace.Stop()
	select {
	case <-p.ended:
	case <-grace.C:
		_ = p.kill()
		<-p.ended
	}
}

// firstLine reads the first line; it is empty if that is none of ours.
func firstLine(printed io.Reader) ready {
	line, _ := bufio.NewReader(io.LimitReader(printed, 1<<10)).ReadBytes('\n')
	var said ready
	if json.Unmarshal(line, &said) != nil {
		return ready{}
	}
	return said
}

// environment is that of the process: nothing of the service, whose settings may be secrets.
func environment(trainer, variable string, token job.Secret) []string {
	env := []string{"PYTHONPATH=" + trainer, variable + "=" + token.Reveal(), "PYTHONUNBUFFERED=1", "PYTHONNOUSERSITE=1"}
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "MORE_KINDS"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// tail keeps the end of what a process wrote.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const maxTail = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	return len(p), nil
}

// String returns the end as one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(t.kept), "?")), " ")
}
