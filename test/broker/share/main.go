// Command share starts a RabbitMQ, runs a command whose tests use it, and stops it: share COMMAND [ARGUMENT...].
// If AMQP_URL names one, it starts none. It ends with the exit code of the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/ncsa/clowder-ray/test/broker"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
	}
	os.Exit(code) //nolint:forbidigo // this is main
}

func run(command []string) (code int, err error) {
	if len(command) == 0 {
		return 2, errors.New("name a command")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the caller's own command
	if os.Getenv(broker.URLVariable) == "" {
		b, failed := broker.Start(ctx, broker.Options{})
		if failed != nil {
			return 1, failed
		}
		defer func() { err = errors.Join(err, b.Stop()) }()
		cmd.Env = append(os.Environ(), b.Share())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run %s: %w", command[0], err)
	}
	return 0, nil
}
