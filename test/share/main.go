// Command share runs tests with what all their packages share: share COMMAND [ARGUMENT...].
//
// It starts a RabbitMQ and stops it afterwards, unless AMQP_URL names one. It makes a folder for temporary files in memory and removes it
// afterwards, unless TMPDIR names one or there is little memory. It ends with the exit code of the command.
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
	if os.Getenv(folderVariable) == "" && memoryHasRoom() {
		folder, failed := makeFolder(memory)
		if failed != nil {
			return 1, failed
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		if err := os.Setenv(folderVariable, folder); err != nil { // also for the broker
			return 1, err
		}
	}
	env := os.Environ()
	if os.Getenv(broker.URLVariable) == "" {
		b, failed := broker.Start(ctx, broker.Options{})
		if failed != nil {
			return 1, failed
		}
		defer func() { err = errors.Join(err, b.Stop()) }()
		env = append(env, b.Share())
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the caller's own command
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run %s: %w", command[0], err)
	}
	return 0, nil
}
