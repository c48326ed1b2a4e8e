package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/test/ports"
)

// ErrNotInstalled is returned by Start on a machine without Debian's package rabbitmq-server.
var ErrNotInstalled = errors.New("RabbitMQ is not installed: apt-get install rabbitmq-server")

// startTimeout bounds a start; a node needs four to eight seconds on two cores, and very much more on a machine that is busy.
const startTimeout = 3 * time.Minute

// Options says where a broker lives.
type Options struct {
	// Dir holds everything that the broker writes. Empty takes a new temporary folder, which Stop removes.
	Dir string
	// Port is where clients connect; 0 takes a free one.
	Port int
}

// Broker is one running RabbitMQ node.
type Broker struct {
	dir    string
	ownDir bool
	script string
	ctl    string
	// amqp is the port for clients, dist that of Erlang's distribution, epmd that of the port mapper.
	amqp, dist, epmd int

	mapper *process
	node   *process
	reaper *reaper
	// external is the address of a broker that somebody else runs; nothing of it is ours to stop.
	external string
}

// startTries is how often a start is tried on ports that are found free: another program may take one first.
const startTries = 3

// Start starts a node and returns when clients can connect to it.
func Start(ctx context.Context, opts Options) (*Broker, error) {
	for try := 1; ; try++ {
		b, err := start(ctx, opts)
		if err == nil || try == startTries || opts.Port != 0 || ctx.Err() != nil {
			return b, err
		}
	}
}

func start(ctx context.Context, opts Options) (*Broker, error) {
	script, ctl, err := installed()
	if err != nil {
		return nil, err
	}
	b := &Broker{dir: opts.Dir, script: script, ctl: ctl}
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "broker-"); err != nil {
			return nil, fmt.Errorf("make the broker's folder: %w", err)
		}
		b.ownDir = true
	}
	if err := b.start(ctx, opts.Port); err != nil {
		return nil, errors.Join(fmt.Errorf("start RabbitMQ in %s: %w", b.dir, err), b.Stop())
	}
	return b, nil
}

func (b *Broker) start(ctx context.Context, port int) error {
	free, err := ports.Free(ctx, 3)
	if err != nil {
		return err
	}
	b.amqp, b.dist, b.epmd = cmp.Or(port, free[0]), free[1], free[2]
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if err := b.writePorts(); err != nil {
		return err
	}
	for name, text := range map[string]string{"plugins": "[].\n", "env.conf": "", "rabbitmq.conf": "loopback_users = none\n"} {
		if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	// The port mapper is started here and in the foreground: a node that finds none starts a daemon that outlives it.
	mapper := exec.Command("epmd", "-port", strconv.Itoa(b.epmd), "-address", "127.0.0.1") //nolint:noctx // it lives as long as the broker, not as long as a call
	mapper.Env = b.environ()
	if b.mapper, err = startProcess(mapper, 0, b.path("epmd.out")); err != nil {
		return err
	}
	if b.reaper, err = startReaper(b.mapper.pid(), b.removes()); err != nil {
		return err
	}
	return b.startNode(ctx)
}

// removes is the folder that goes with the broker, or empty.
func (b *Broker) removes() string {
	if b.ownDir {
		return b.dir
	}
	return ""
}

// startNode starts the node in the port mapper's process group, so that one signal reaches all.
func (b *Broker) startNode(ctx context.Context) error {
	cmd := exec.Command(b.script)         //nolint:noctx // it lives as long as the broker, not as long as a call
	cmd.Env, cmd.Dir = b.environ(), b.dir // where a node that dies leaves its dumps
	var err error
	if b.node, err = startProcess(cmd, b.mapper.pid(), b.path("node.out")); err != nil {
		return err
	}
	return b.await(ctx)
}

// await returns when the node takes AMQP connections and has finished its start, or as soon as it died. It opens its port
// before the end of the start, and a stop in between leaves it in neither state.
func (b *Broker) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := b.awaitPort(ctx); err != nil {
		return err
	}
	_, err := b.Eval(ctx, "rabbit:await_startup().")
	return err
}

func (b *Broker) awaitPort(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var dialer net.Dialer
	for {
		if conn, err := dialer.DialContext(ctx, "tcp", b.Addr()); err == nil {
			return conn.Close()
		}
		select {
		case <-b.node.exited:
			return fmt.Errorf("the node ended while it started: %s", tail(b.path("node.out")))
		case <-ctx.Done():
			return fmt.Errorf("the node takes no connection: %w: %s", ctx.Err(), tail(b.path("node.out")))
		case <-tick.C:
		}
	}
}

// URI is the address of the default virtual host, with the user guest.
func (b *Broker) URI() string {
	if b.external != "" {
		return b.external
	}
	return (&url.URL{Scheme: "amqp", User: url.UserPassword("guest", "guest"), Host: b.Addr(), Path: "/"}).String()
}

// Addr is the host and port that clients connect to.
func (b *Broker) Addr() string {
	if u, err := url.Parse(b.external); err == nil && b.external != "" {
		if u.Port() == "" {
			return net.JoinHostPort(u.Hostname(), "5672")
		}
		return u.Host
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.amqp))
}

// Stop ends the node and its port mapper at once and waits for both; the broker's own temporary folder is removed. A
// second Stop does nothing.
func (b *Broker) Stop() error {
	if b.external != "" {
		return nil
	}
	err := b.reaper.dismiss()
	b.node.kill()
	b.mapper.kill()
	if b.ownDir {
		err = errors.Join(err, os.RemoveAll(b.dir))
	}
	b.node, b.mapper, b.reaper = nil, nil, nil
	return err
}

// Kill ends the node as kill -9 does. Revive brings it back with what it had on disk.
func (b *Broker) Kill() { b.node.kill() }

// Revive starts the node again after Kill, on the same ports and the same folder.
func (b *Broker) Revive(ctx context.Context) error {
	if err := b.startNode(ctx); err != nil {
		return fmt.Errorf("start RabbitMQ again: %w", err)
	}
	return nil
}

// Restart stops the broker cleanly inside its running node and starts it again, as an operator's restart does.
func (b *Broker) Restart(ctx context.Context) error {
	for _, command := range []string{"stop_app", "start_app"} {
		if _, err := b.Ctl(ctx, command); err != nil {
			return fmt.Errorf("restart RabbitMQ: %w", err)
		}
	}
	return b.await(ctx)
}

func (b *Broker) path(name string) string { return filepath.Join(b.dir, name) }
