// Command pictures makes pictures of the documentation from real trainings: the report of one, the page of another while it goes on, and the view
// of the job in a Clowder v2 where one is given. It needs Chromium.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/browser"
	"github.com/ncsa/clowder-ray/test/ports"
	"github.com/ncsa/clowder-ray/test/stack"
)

// timeout covers two trainings of the bundled dataset and the pictures.
const timeout = 15 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	err := run(ctx)
	cancel()
	stop()
	if err != nil {
		log.Fatalln("pictures:", err)
	}
}

func run(ctx context.Context) (err error) {
	env := flag.String("env", "", "file with the settings of a running Clowder v2, see site; empty uses the double, and leaves the picture of the job as it is")
	out := flag.String("out", filepath.Join(stack.Root(), "docs", "images"), "folder of the pictures")
	program := flag.String("extractor", filepath.Join(stack.Root(), "bin", "extractor"), "the service")
	flag.Parse()
	work, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	s, stop, err := anySite(ctx, *env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	studio, end, err := s.serve(ctx, *program, work)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	results := filepath.Join(work, "results")
	if err := demo(ctx, results, "-clowder", s.url); err != nil {
		return err
	}
	tabs, closeTabs, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer closeTabs()
	c := &camera{ctx: tabs}
	reports, err := filepath.Glob(filepath.Join(results, "*", "*", "report.html"))
	if err != nil || len(reports) != 1 {
		return errors.Join(err, fmt.Errorf("found %d reports in %s, expected one", len(reports), results))
	}
	if err := c.report("file://"+reports[0], filepath.Join(*out, "report.png")); err != nil {
		return err
	}
	dataset, job, err := s.newestJob(ctx)
	if err != nil {
		return err
	}
	if *env != "" {
		if err := s.photographJob(ctx, c, dataset, job, filepath.Join(*out, "job.png")); err != nil {
			return err
		}
	}
	return s.photographRun(ctx, c, studio, dataset, filepath.Join(*out, "running.png"))
}

// anySite reads the file of a running Clowder v2, or starts the double of Clowder and a RabbitMQ, which stop ends.
func anySite(ctx context.Context, env string) (s *site, stop func() error, err error) {
	if env != "" {
		s, err = readSite(env)
		return s, func() error { return nil }, err
	}
	mq, err := broker.Start(ctx, broker.Options{})
	if err != nil {
		return nil, nil, err
	}
	double, err := clowdertest.New(clowdertest.Options{AMQPURI: mq.URI()})
	if err != nil {
		return nil, nil, errors.Join(err, mq.Stop())
	}
	s = &site{url: double.URL, broker: mq.URI(), key: double.Key(stack.User)}
	return s, func() error { return errors.Join(double.Close(), mq.Stop()) }, nil
}

// demo runs test/demo, which trains on the bundled dataset and downloads the results into out.
func demo(ctx context.Context, out string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "./test/demo", "-out", out}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = stack.Root(), os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the demo: %w", err)
	}
	return nil
}

// site is a running Clowder v2.
type site struct {
	url, broker   string // CLOWDER_URL, RABBITMQ_URI
	key, adminKey string // CLOWDER_KEY of a user; CLOWDER_ADMIN_KEY, which enables the extractor where it is not enabled yet
	page          string // CLOWDER_PAGE: folder of the built web page; empty where CLOWDER_URL serves it
}

// readSite reads a file of lines NAME=value.
func readSite(file string) (*site, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	s := &site{}
	fields := map[string]*string{
		"CLOWDER_URL": &s.url, "RABBITMQ_URI": &s.broker, "CLOWDER_KEY": &s.key, "CLOWDER_ADMIN_KEY": &s.adminKey, "CLOWDER_PAGE": &s.page,
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "=")
		if field, ok := fields[name]; ok {
			*field = strings.Trim(value, `'"`)
		}
	}
	if s.url == "" || s.broker == "" || s.key == "" {
		return nil, fmt.Errorf("%s must set CLOWDER_URL, RABBITMQ_URI and CLOWDER_KEY", file)
	}
	return s, lines.Err()
}

// serve runs the service with its studio beside the site, on a Ray of its own, until stop is called.
func (s *site) serve(ctx context.Context, program, work string) (studio string, stop func() error, err error) {
	ray := filepath.Join(work, "ray")
	env, err := stack.RayEnv(ctx, program, ray)
	stop = func() error { return stack.StopRay(context.WithoutCancel(ctx), program, ray) }
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	if err != nil {
		return "", nil, err
	}
	port, err := ports.Free(ctx, 1)
	if err != nil {
		return "", nil, err
	}
	env["STUDIO_LISTEN"] = fmt.Sprintf("127.0.0.1:%d", port[0])
	studio = "http://" + env["STUDIO_LISTEN"]
	env["STUDIO_URL"] = studio
	env["RABBITMQ_URI"], env["CLOWDER_URL"], env["HEARTBEAT"] = s.broker, s.url, "5s"
	env["SHARED_DIR"], env["STATE_DIR"] = filepath.Join(work, "shared"), filepath.Join(work, "state")
	service, err := stack.StartService(ctx, program, env, nil)
	if err != nil {
		return "", nil, err
	}
	stopRay := stop
	stop = func() error { return errors.Join(service.Stop(30*time.Second), stopRay()) }
	if err := service.AwaitReady(ctx); err != nil {
		return "", nil, err
	}
	if err := s.enable(ctx); err != nil {
		return "", nil, err
	}
	return studio, stop, os.Setenv("CLOWDER_KEY", s.key)
}
