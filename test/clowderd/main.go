// Command clowderd runs the double of Clowder v2 as a process of its own, for the demo and for tests across processes. Its
// first line on standard output is a JSON object with the URL and the API key of each user.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clowderd:", err)
		os.Exit(1) //nolint:forbidigo // main exits
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("clowderd", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to serve on")
	amqpURI := flags.String("amqp", os.Getenv("RABBITMQ_URI"), "URI of RabbitMQ (RABBITMQ_URI); without it datasets cannot be submitted")
	dir := flags.String("dir", "", "folder for file bodies; a temporary one without it")
	host := flags.String("host", "", "what job messages name as their host; the double's own URL without it")
	users := flags.String("users", "", "e-mail addresses of the users, with commas")
	delay := flags.Duration("upload-delay", time.Second, "how long each upload blocks, as in the real Clowder")
	if err := flags.Parse(args); err != nil {
		return err
	}
	log, err := zap.NewProduction()
	if err != nil {
		return err
	}
	opts := clowdertest.Options{
		Listen: *listen, AMQPURI: *amqpURI, Dir: *dir, Host: *host, UploadDelay: *delay, LoseOrder: true, HideFromOwner: true, Logger: log,
	}
	if *users != "" {
		opts.Users = strings.Split(*users, ",")
	}
	server, err := clowdertest.New(opts)
	if err != nil {
		return err
	}
	hello := struct {
		URL  string            `json:"url"`
		Key  string            `json:"key"`
		Keys map[string]string `json:"keys"`
	}{URL: server.URL, Keys: server.Keys()}
	hello.Key = hello.Keys[server.Users()[0]]
	if err := json.NewEncoder(out).Encode(hello); err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}
