package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// signalsVar makes this test binary a program that stops slowly: it gets a first signal, and then the signal that the variable names.
const signalsVar = "EXTRACTOR_TEST_SIGNALS"

// TestASecondSignalEndsTheProgramAtOnce: an administrator must not have to wait for a shutdown that hangs.
func TestASecondSignalEndsTheProgramAtOnce(t *testing.T) {
	pairs := map[string][2]syscall.Signal{
		"as systemd does, and then a person": {syscall.SIGTERM, syscall.SIGINT}, "Ctrl+C twice": {syscall.SIGINT, syscall.SIGINT},
	}
	if pair, child := pairs[os.Getenv(signalsVar)]; child {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		signals := make(chan os.Signal, 2)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
		go handleSignals(signals, stop)
		require.NoError(t, syscall.Kill(os.Getpid(), pair[0]))
		<-ctx.Done()
		_, err := os.Stdout.WriteString("stopping\n")
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(os.Getpid(), pair[1]))
		select {} // the shutdown hangs
	}
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestASecondSignalEndsTheProgramAtOnce$")
			cmd.Env = append(os.Environ(), signalsVar+"="+name)
			out, err := cmd.Output()
			require.Equal(t, "stopping\n", string(out), "the first signal asks for an orderly shutdown")
			exit, ok := errors.AsType[*exec.ExitError](err)
			require.True(t, ok, "%v", err)
			status, ok := exit.Sys().(syscall.WaitStatus)
			require.True(t, ok)
			require.True(t, status.Signaled(), "who started the program sees that a signal ended it")
			require.Equal(t, pair[1], status.Signal())
		})
	}
}
