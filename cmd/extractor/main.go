// Command extractor finetunes models on the datasets of Clowder, on Ray. See the README.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // the image has no time zone database
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go handleSignals(signals, cancel)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) //nolint:forbidigo // this is main
}

// handleSignals starts an orderly shutdown at the first signal. The second signal ends the program immediately.
func handleSignals(signals chan os.Signal, stop func()) {
	<-signals
	stop()
	second := <-signals
	signal.Stop(signals)
	_ = syscall.Kill(os.Getpid(), second.(syscall.Signal))
}
