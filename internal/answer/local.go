package answer

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

// LocalConfig describes an answer process on this machine.
type LocalConfig struct {
	// Python is an interpreter that has onnxruntime, tokenizers, scikit-learn and pillow.
	Python string
	// Trainer returns the folder to put on PYTHONPATH. It is asked before each start.
	Trainer func() (string, error)
	// Registry is the folder of the registry.
	Registry string
	// Sleep is the time without questions after which the process ends (default 15 min), Memory the bytes for models (default 256 MB).
	Sleep  time.Duration
	Memory int64
	// StartTimeout is the longest wait until it answers (default 60 s).
	StartTimeout time.Duration
	Log          *zap.Logger
}

const (
	defaultSleep  = 15 * time.Minute
	defaultMemory = 256 << 20
	defaultStart  = time.Minute
	// restAfterFailure is the time after a failed start in which questions fail without another one.
	restAfterFailure = 10 * time.Second
	// endGrace is how long the process may take to end after its input was closed.
	endGrace = 3 * time.Second
)

// Local starts an answer process when there is a question and none runs. At most one runs at a time.
type Local struct {
	cfg LocalConfig

	mu      sync.Mutex
	running *process // nil before the first question
	failed  time.Time
	failure error
	closed  bool
}

// process is one answer process.
type process struct {
	place place
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
	cfg.Sleep, cfg.Memory = cmp.Or(cfg.Sleep, defaultSleep), cmp.Or(cfg.Memory, defaultMemory)
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, defaultStart)
	return &Local{cfg: cfg}
}

// at returns the running process, and starts one if there is none. Others that ask meanwhile wait for the same start.
func (l *Local) at(ctx context.Context, gone string) (place, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return place{}, ErrNotSetUp
	}
	if l.running != nil && !l.running.hasEnded() {
		if l.running.place.url != gone {
			return l.running.place, nil
		}
		l.running.end() // it runs and does not answer
	}
	l.running = nil
	if l.failure != nil && time.Since(l.failed) < restAfterFailure {
		return place{}, l.failure
	}
	// A visitor who leaves must not end a start that others wait for.
	started, err := l.start(context.WithoutCancel(ctx))
	if err != nil {
		l.cfg.Log.Warn("cannot start the answer process", zap.Error(err))
		l.failed, l.failure = time.Now(), fmt.Errorf("%w: its process cannot be started, the log of the service says why", ErrNotSetUp)
		return place{}, l.failure
	}
	l.failure, l.running = nil, started
	return started.place, nil
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
	cmd := exec.Command(l.cfg.Python, "-B", "-m", "trainer", "answer", "--registry", l.cfg.Registry, "--with-parent", //nolint:noctx // end ends it
		"--sleep", strconv.FormatFloat(l.cfg.Sleep.Seconds(), 'f', -1, 64), "--memory", strconv.FormatInt(max(1, l.cfg.Memory>>20), 10))
	cmd.Env = environment(trainer, token)
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
	port := make(chan int, 1)
	go func() {
		defer close(p.ended)
		port <- firstPort(printed)
		_, _ = io.Copy(io.Discard, printed) // it prints no more
		if err := cmd.Wait(); err != nil {
			l.cfg.Log.Warn("the answer process has ended", zap.Error(err), zap.String("said", errs.String()))
		}
	}()
	if err := p.ready(ctx, port, l.cfg.StartTimeout); err != nil {
		p.end()
		return nil, fmt.Errorf("%w: %s", err, cmp.Or(errs.String(), "it said nothing"))
	}
	p.place.token = token
	return p, nil
}

// ready waits for the port.
func (p *process) ready(ctx context.Context, port <-chan int, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was not ready after %s", limit))
	defer cancel()
	select {
	case n := <-port:
		if n == 0 {
			return errors.New("it ended before it was ready")
		}
		p.place.url = "http://127.0.0.1:" + strconv.Itoa(n)
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

// firstPort reads the port from the first line, 0 if there is none.
func firstPort(printed io.Reader) int {
	line, _ := bufio.NewReader(io.LimitReader(printed, 1<<10)).ReadBytes('\n')
	var ready struct {
		Port int `json:"port"`
	}
	if json.Unmarshal(line, &ready) != nil || ready.Port < 1 || ready.Port > 65535 {
		return 0
	}
	return ready.Port
}

// environment is that of the process: nothing of the service, whose settings may be secrets.
func environment(trainer string, token job.Secret) []string {
	env := []string{"PYTHONPATH=" + trainer, "ANSWER_TOKEN=" + token.Reveal(), "PYTHONUNBUFFERED=1", "PYTHONNOUSERSITE=1"}
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH"} {
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
