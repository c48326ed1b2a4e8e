package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// scripts are Debian's own scripts below this folder; the ones in PATH are wrappers that insist on the user rabbitmq.
const scripts = "/usr/lib/rabbitmq"

// nodeName is the same for every broker: each has a port mapper of its own.
const nodeName = "private@localhost"

//nolint:gochecknoglobals // the calls of this process to nodes, counted
var calls atomic.Int64

// installed finds the scripts of RabbitMQ.
func installed() (server, ctl string, err error) {
	server = filepath.Join(scripts, "bin", "rabbitmq-server")
	found, _ := filepath.Glob(filepath.Join(scripts, "lib", "rabbitmq_server-*", "sbin", "rabbitmqctl"))
	if _, err := os.Stat(server); err != nil || len(found) == 0 {
		return "", "", ErrNotInstalled
	}
	return server, found[len(found)-1], nil
}

// environ points every path, port and name of RabbitMQ away from the machine's own node.
func (b *Broker) environ() []string {
	const loopback = "-kernel inet_dist_use_interface {127,0,0,1}"
	env := make([]string, 0, len(os.Environ())+20)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "RABBITMQ_") && !strings.HasPrefix(kv, "ERL_") && !strings.HasPrefix(kv, "HOME=") {
			env = append(env, kv)
		}
	}
	return append(env,
		"HOME="+b.dir, // the Erlang cookie lies there
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_EPMD_PORT="+strconv.Itoa(b.epmd),
		"RABBITMQ_NODENAME="+nodeName,
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		"RABBITMQ_NODE_PORT="+strconv.Itoa(b.amqp),
		"RABBITMQ_DIST_PORT="+strconv.Itoa(b.dist),
		"RABBITMQ_MNESIA_BASE="+b.path("data"),
		"RABBITMQ_LOG_BASE="+b.path("log"),
		"RABBITMQ_PID_FILE="+b.path("node.pid"),
		"RABBITMQ_CONFIG_FILE="+b.path("rabbitmq.conf"),
		"RABBITMQ_CONF_ENV_FILE="+b.path("env.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+b.path("plugins"),
		// The script then becomes the node instead of a parent of it, so that our child's id is the node's.
		"RABBITMQ_ALLOW_INPUT=1",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-noinput +S 1:1 +sbwt none "+loopback,
		"RABBITMQ_CTL_ERL_ARGS="+loopback,
		// rabbitmqctl takes the first of these that is free, even if other programs ask too.
		"RABBITMQ_CTL_DIST_PORT_MIN=19000",
		"RABBITMQ_CTL_DIST_PORT_MAX=19999",
	)
}

// Ctl runs rabbitmqctl against the node and returns what it printed. It takes half a second; Eval takes milliseconds.
func (b *Broker) Ctl(ctx context.Context, args ...string) (string, error) {
	if b.external != "" {
		return "", errors.New("this broker is not ours to command")
	}
	cmd := exec.CommandContext(ctx, b.ctl, args...)
	cmd.Env = b.environ()
	return output(cmd)
}

// Eval runs an Erlang expression inside the node, full stop included, and returns its value as Erlang prints it.
func (b *Broker) Eval(ctx context.Context, expression string) (string, error) {
	if b.external != "" {
		return "", errors.New("this broker is not ours to command")
	}
	cookie, err := os.ReadFile(b.path(".erlang.cookie"))
	if err != nil {
		return "", fmt.Errorf("read the node's cookie: %w", err)
	}
	// The caller is a node too, and the second of two with one name is refused.
	caller := fmt.Sprintf("caller-%d-%d", os.Getpid(), calls.Add(1))
	cmd := exec.CommandContext(ctx, "erl_call", "-h", caller, "-c", string(cookie), "-n", nodeName, "-e")
	cmd.Env = b.environ()
	cmd.Stdin = strings.NewReader(expression + "\n")
	out, err := output(cmd)
	if err != nil {
		return "", err
	}
	value, found := strings.CutPrefix(out, "{ok, ")
	if !found {
		return "", fmt.Errorf("evaluate %q: %s", expression, out)
	}
	return strings.TrimSuffix(value, "}"), nil
}

func output(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run %s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(out.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
