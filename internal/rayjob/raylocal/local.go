package raylocal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Local is a Ray that runs on this machine.
type Local struct {
	// Address is the dashboard, for the Jobs API. Token authenticates against it; TokenFile holds the same token.
	Address   string
	Token     job.Secret
	TokenFile string

	dir   string
	state state
	ended <-chan struct{} // closed when the head process has ended; nil for a Ray that Find returned
}

// Start starts a Ray and returns once it accepts jobs. If a detached one already runs for the folder, it is returned. After
// an error no process of it is left.
func Start(ctx context.Context, cfg Config) (_ *Local, err error) {
	if cfg, err = cfg.prepared(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of the local Ray: %w", err)
	}
	unlock, err := lock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	old, _, err := readState(cfg.Dir)
	switch {
	case errors.Is(err, ErrNotRunning):
	case err != nil:
		return nil, err
	default:
		if l, err := adopt(ctx, cfg, old); l != nil || err != nil {
			return l, err
		}
	}
	for range tries {
		var l *Local
		if l, err = launch(ctx, cfg); err == nil || !errors.Is(err, errNoAgent) && !strings.Contains(err.Error(), gaveUp) {
			return l, err
		}
	}
	return nil, fmt.Errorf("%w: it was started %d times; try again when less runs on this machine", err, tries)
}

// Ray's own process for the node ends if the agents that it starts, which are Python, need more than 15 s to import their modules. No
// setting of Ray changes that. 30 s after the start Ray gives up. The next try finds the files of the agents in memory.
const (
	gaveUp = "node timed out during startup"
	tries  = 6
)

// The agent listens when the start of Ray is over, or never: it goes on without a server if another program has taken its port.
var errNoAgent = errors.New("the agent of the local Ray does not respond: another program may have its port")

// adopt checks the Ray that the folder's state names. It returns that Ray if it is healthy and detached, fails if it belongs to
// another program, and removes it if it has ended or does not respond.
func adopt(ctx context.Context, cfg Config, old state) (*Local, error) {
	running, err := processes(old.Mark)
	if err != nil {
		return nil, err
	}
	if len(running) > 0 && (!cfg.Detached || !old.Detached) {
		return nil, fmt.Errorf("another local Ray runs in %s: stop it or choose another folder", cfg.Dir)
	}
	if len(running) > 0 {
		if l, err := Find(ctx, cfg.Dir); err == nil {
			return l, nil
		}
	}
	return nil, errors.Join(endAll(old.Mark), old.forget(cfg.Dir))
}

// launch starts a new Ray in a folder that has none. The state is on disk before the first process starts.
func launch(ctx context.Context, cfg Config) (_ *Local, err error) {
	at, err := newPorts()
	if err != nil {
		return nil, err
	}
	temp, err := tempDir()
	if err != nil {
		return nil, err
	}
	s := state{Address: "http://127.0.0.1:" + strconv.Itoa(at.dashboard), Mark: random(), Temp: temp, Detached: cfg.Detached}
	l := &Local{Address: s.Address, Token: job.Secret(random()), TokenFile: tokenPath(cfg.Dir), dir: cfg.Dir, state: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, endAll(s.Mark), s.forget(cfg.Dir))
			l.wait()
		}
	}()
	if err := s.write(cfg.Dir, l.Token); err != nil {
		return nil, err
	}
	cmd := exec.Command(cfg.Python, cfg.arguments(at, filepath.Join(temp, "r"))...) //nolint:noctx // endAll ends it, and not a context
	cmd.Env, cmd.Dir = cfg.environment(s.Mark), temp
	if l.ended, err = run(cmd, cfg); err != nil {
		return nil, err
	}
	return l, l.ready(ctx, cfg, "http://127.0.0.1:"+strconv.Itoa(at.agent))
}

// run starts cmd from a thread that lives as long as cmd, since the kernel ends an attached Ray when that thread ends.
func run(cmd *exec.Cmd, cfg Config) (<-chan struct{}, error) {
	var err error
	if cmd.SysProcAttr, err = attributes(cfg.Detached); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(logPath(cfg.Dir), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of the local Ray: %w", err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	began, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = out.Close() // the child has its own copy
		began <- err
		if err == nil {
			_ = cmd.Wait() // its log says how it ended
		}
	}()
	if err := <-began; err != nil {
		return ended, fmt.Errorf("start the local Ray: %w", err)
	}
	return ended, nil
}

// Find returns the Ray that runs for a folder, or ErrNotRunning.
func Find(ctx context.Context, dir string) (*Local, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the local Ray: %w", err)
	}
	s, token, err := readState(dir)
	if err != nil {
		return nil, err
	}
	running, err := processes(s.Mark)
	if err != nil {
		return nil, err
	}
	if len(running) == 0 {
		return nil, ErrNotRunning
	}
	l := &Local{Address: s.Address, Token: token, TokenFile: tokenPath(dir), dir: dir, state: s}
	if err := l.get(ctx, l.Address+"/api/version"); err != nil {
		return nil, fmt.Errorf("the local Ray in %s runs but does not respond: %w", dir, err)
	}
	return l, nil
}

// Stop ends the Ray of a folder. It is no error if there is none. After a nil return no process of it is left.
func Stop(dir string) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("find the local Ray: %w", err)
	}
	return stop(dir, "")
}

// Stop ends this Ray, even if its folder is gone, and no other one that was started for the folder since. It may be called
// again.
func (l *Local) Stop() error {
	if err := endAll(l.state.Mark); err != nil {
		return err
	}
	l.wait()
	return errors.Join(os.RemoveAll(l.state.Temp), stop(l.dir, l.state.Mark))
}

func (l *Local) wait() {
	if l.ended != nil {
		<-l.ended
	}
}

// stop ends the Ray of a folder if it has this mark. An empty mark matches every Ray.
func stop(dir, mark string) (err error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	s, _, err := readState(dir)
	if errors.Is(err, ErrNotRunning) || err == nil && mark != "" && mark != s.Mark {
		return nil
	}
	if err != nil {
		return err
	}
	if err := endAll(s.Mark); err != nil {
		return err
	}
	return s.forget(dir)
}

// maxTemp leaves room for the names of Ray's sockets within the 107 bytes that a socket path may have.
const maxTemp = 34

// tempDir creates the parent folder of Ray's sockets and logs. Ray makes its own folder readable for all users; only the
// owner can enter this one.
func tempDir() (string, error) {
	parent := os.TempDir()
	if len(parent) > maxTemp-len("/clray-4294967295") {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "clray-*")
	if err != nil {
		return "", fmt.Errorf("create a temporary folder for the local Ray: %w", err)
	}
	return dir, nil
}

// random returns a random secret of 128 bits.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
