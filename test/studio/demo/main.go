// Command demo starts a studio to be clicked: a private RabbitMQ and Ray, the double of Clowder with three people, and the service, which
// trains two models on the bundled dataset and goes on with a third. It prints the address of the studio and runs until it is stopped.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/ports"
	"github.com/ncsa/clowder-ray/test/stack"
)

// The people of the demo: the owner of the dataset, an editor and a viewer.
var people = []string{"alice@example.org", "bob@example.org", "carol@example.org"}

const extractor = "ncsa.ray.finetune"

// trainings are what Alice submits, one after the other; the last goes on while people look.
var trainings = []map[string]any{
	{"run_name": "first try"},
	{"run_name": "bert-tiny", "model": "bert-tiny", "epochs": 4},
	{"run_name": "bert-tiny, slowly", "model": "bert-tiny", "epochs": 150, "learning_rate": 0.00005, "batch_size": 8, "more_options": "early_stopping_patience: 0"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		log.Fatalln("studio:", err)
	}
}

func run(ctx context.Context, w io.Writer) (err error) {
	program := flag.String("extractor", filepath.Join(stack.Root(), "bin", "extractor"), "the service")
	once := flag.Bool("once", false, "end when the first training is done")
	flag.Parse()
	work, err := os.MkdirTemp("", "studio-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	mq, err := broker.Start(ctx, broker.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mq.Stop()) }()
	double, err := clowdertest.New(clowdertest.Options{AMQPURI: mq.URI(), Users: people})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, double.Close()) }()
	env, err := stack.RayEnv(ctx, *program, filepath.Join(work, "ray"))
	defer func() {
		err = errors.Join(err, stack.StopRay(context.WithoutCancel(ctx), *program, filepath.Join(work, "ray")))
	}()
	if err != nil {
		return err
	}
	port, err := ports.Free(ctx, 1)
	if err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port[0])
	env["RABBITMQ_URI"], env["CLOWDER_URL"] = mq.URI(), double.URL
	env["SHARED_DIR"], env["STATE_DIR"] = filepath.Join(work, "shared"), filepath.Join(work, "state")
	env["STUDIO_URL"], env["STUDIO_LISTEN"] = "http://"+address, address
	service, err := stack.StartService(ctx, *program, env, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Stop(30*time.Second)) }()
	if err := service.AwaitReady(ctx); err != nil {
		return err
	}
	if err := show(ctx, w, double, "http://"+address, *once); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\n%s", err, service.Log())
	}
	return nil
}

// show uploads the dataset, submits the trainings and says where to look.
func show(ctx context.Context, w io.Writer, double *clowdertest.Server, studio string, once bool) (err error) {
	client, err := clowder.NewClient(clowder.Config{URL: double.URL})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	alice := client.As(job.Secret(double.Key(people[0])))
	dataset := double.AddDataset(people[0], "Reviews")
	double.Share(dataset, people[1], "editor")
	double.Share(dataset, people[2], "viewer")
	folder := filepath.Join(stack.Root(), "test", "dataset", "reviews")
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := upload(double, dataset, filepath.Join(folder, f.Name())); err != nil {
			return err
		}
	}
	if _, err := double.AddFile(dataset, "finetune.yaml", strings.NewReader("# Settings of trainings on this dataset.\nseed: 7\n")); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "\n  The studio is at  %s/datasets/%s/runs\n\n  Log in with the API key of one of these people:\n\n", studio, dataset)
	for i, role := range []string{"owner of the dataset", "may edit it", "may look at it"} {
		_, _ = fmt.Fprintf(w, "    %-20s %-22s %s\n", people[i], role, double.Key(people[i]))
	}
	_, _ = fmt.Fprintf(w, "\n  Three trainings begin now. Press Ctrl-C to stop everything.\n\n")
	for i, parameters := range trainings {
		id, err := submit(ctx, alice, dataset, parameters)
		if err != nil {
			return err
		}
		if i == len(trainings)-1 {
			break
		}
		if err := await(ctx, alice, id); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "  %q is done.\n", parameters["run_name"])
		if once {
			return nil
		}
	}
	<-ctx.Done()
	return nil
}

func upload(double *clowdertest.Server, dataset, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = double.AddFile(dataset, filepath.Base(path), f)
	return err
}

// submit submits the dataset as soon as Clowder knows the extractor.
func submit(ctx context.Context, user *clowder.Session, dataset string, parameters map[string]any) (string, error) {
	for {
		listeners, err := user.Listeners(ctx)
		if err != nil {
			return "", err
		}
		for _, l := range listeners {
			if l.Name == extractor && l.Alive {
				return user.Submit(ctx, dataset, extractor, parameters)
			}
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
}

// await waits until a job is over.
func await(ctx context.Context, user *clowder.Session, id string) error {
	for {
		j, err := user.Job(ctx, id)
		switch {
		case err != nil:
			return err
		case j.Status == "SUCCEEDED":
			return nil
		case j.Status == "ERROR" || j.Status == "SKIPPED":
			return fmt.Errorf("the job ended as %s: %s", j.Status, j.Message)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(250 * time.Millisecond):
		return nil
	}
}
