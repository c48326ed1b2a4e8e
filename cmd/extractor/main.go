// Command extractor finetunes models on the datasets of a Clowder, on Ray. See the README.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // the image has no zones
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go obey(signals, cancel)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) //nolint:forbidigo // this is main
}

// obey asks for an orderly stop at the first signal and lets the second one end the program at once, however soon it comes.
func obey(signals chan os.Signal, stop func()) {
	<-signals
	stop()
	second := <-signals
	signal.Stop(signals)
	_ = syscall.Kill(os.Getpid(), second.(syscall.Signal))
}
