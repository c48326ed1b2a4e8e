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
	// The first signal asks for an orderly stop; a second one ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) //nolint:forbidigo // this is main
}
