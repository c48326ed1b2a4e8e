// Command pictures makes the pictures of the documentation from a real training: the report, and the view of the job in a
// Clowder v2 where one is given. It needs Chromium.
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

	"github.com/ncsa/clowder-ray/test/browser"
	"github.com/ncsa/clowder-ray/test/stack"
)

// timeout covers a training of the bundled dataset and the pictures.
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
	env := flag.String("env", "", "file with the settings of a running Clowder v2, see site; empty makes the picture of the report alone")
	out := flag.String("out", filepath.Join(stack.Root(), "docs", "images"), "folder of the pictures")
	program := flag.String("extractor", filepath.Join(stack.Root(), "bin", "extractor"), "the service")
	flag.Parse()
	work, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	results := filepath.Join(work, "results")
	var s *site
	if *env == "" {
		err = demo(ctx, *program, results)
	} else if s, err = readSite(*env); err == nil {
		err = s.train(ctx, *program, work, results)
	}
	if err != nil {
		return err
	}
	tabs, stop, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	c := &camera{ctx: tabs}
	reports, err := filepath.Glob(filepath.Join(results, "*", "*", "report.html"))
	if err != nil || len(reports) != 1 {
		return errors.Join(err, fmt.Errorf("found %d reports in %s, expected one", len(reports), results))
	}
	if err := c.report("file://"+reports[0], filepath.Join(*out, "report.png")); err != nil {
		return err
	}
	if s == nil {
		return nil
	}
	return s.photographJob(ctx, c, filepath.Join(*out, "job.png"))
}

// demo runs test/demo, which trains on the bundled dataset and downloads the results into out.
func demo(ctx context.Context, program, out string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "./test/demo", "-extractor", program, "-out", out}, args...)...)
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

// train runs the service beside the site and the demo as a user of it.
func (s *site) train(ctx context.Context, program, work, results string) (err error) {
	ray := filepath.Join(work, "ray")
	env, err := stack.RayEnv(ctx, program, ray)
	defer func() { err = errors.Join(err, stack.StopRay(context.WithoutCancel(ctx), program, ray)) }()
	if err != nil {
		return err
	}
	env["RABBITMQ_URI"], env["CLOWDER_URL"], env["HEARTBEAT"] = s.broker, s.url, "5s"
	env["SHARED_DIR"], env["STATE_DIR"] = filepath.Join(work, "shared"), filepath.Join(work, "state")
	service, err := stack.StartService(ctx, program, env, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Stop(30*time.Second)) }()
	if err := service.AwaitReady(ctx); err != nil {
		return err
	}
	if err := s.enable(ctx); err != nil {
		return err
	}
	if err := os.Setenv("CLOWDER_KEY", s.key); err != nil {
		return err
	}
	return demo(ctx, program, results, "-clowder", s.url)
}
