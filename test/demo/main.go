// Command demo shows one job to a new user: it uploads a dataset, submits it, follows the job and downloads the results. It
// starts its own RabbitMQ and Ray, the service as a process, and the double of Clowder v2, and stops them all at the end. With
// -clowder it uses a Clowder that runs already, with a service that is connected to it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

const (
	extractor = "ncsa.ray.finetune"
	timeout   = 10 * time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	err := run(ctx, os.Stdout)
	cancel()
	stop()
	if err != nil {
		log.Fatalln("demo:", err)
	}
}

// options is what the command line says.
type options struct {
	dataset, program, out, clowder string
	// parameters are the settings of the run as JSON.
	parameters string
}

func run(ctx context.Context, w io.Writer) (err error) {
	var o options
	flag.StringVar(&o.dataset, "dataset", filepath.Join(stack.Root(), "test", "dataset", "reviews"), "folder to upload as a dataset")
	flag.StringVar(&o.program, "extractor", filepath.Join(stack.Root(), "bin", "extractor-demo"), "the service")
	flag.StringVar(&o.out, "out", filepath.Join(stack.Root(), "var", "demo"), "where the results are downloaded to")
	flag.StringVar(&o.clowder, "clowder", "", "address of a Clowder that runs already; the user's API key is in CLOWDER_KEY")
	flag.StringVar(&o.parameters, "parameters", "{}", "settings of the run as JSON, for example {\"model\": \"bert-tiny\"}")
	flag.Parse()
	d := &demo{w: w, began: time.Now()}
	work, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if o.clowder != "" {
		return d.use(ctx, o, work, o.clowder, job.Secret(os.Getenv("CLOWDER_KEY")))
	}
	return d.useOwn(ctx, o, work)
}

// useOwn starts all parts, uses them and stops them.
func (d *demo) useOwn(ctx context.Context, o options, work string) (err error) {
	mq, err := broker.Start(ctx, broker.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mq.Stop()) }()
	d.step("RabbitMQ", "a private node on %s", mq.Addr())

	platform, err := clowdertest.New(clowdertest.Options{AMQPURI: mq.URI(), UploadDelay: time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, platform.Close()) }()
	d.step("Clowder", "the double of Clowder v2 on %s", platform.URL)

	env, err := stack.RayEnv(ctx, o.program, filepath.Join(work, "ray"))
	defer func() {
		err = errors.Join(err, stack.StopRay(context.WithoutCancel(ctx), o.program, filepath.Join(work, "ray")))
	}()
	if err != nil {
		return err
	}
	d.step("Ray", "a head on %s, with token auth", env["RAY_ADDRESS"])

	env["RABBITMQ_URI"], env["CLOWDER_URL"] = mq.URI(), platform.URL
	env["SHARED_DIR"], env["STATE_DIR"] = filepath.Join(work, "shared"), filepath.Join(work, "state")
	d.shared = env["SHARED_DIR"]
	service, err := stack.StartService(ctx, o.program, env, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Stop(30*time.Second)) }()
	if err := service.AwaitReady(ctx); err != nil {
		return err
	}
	if awaitWarm(ctx, d.began) {
		d.step("Ray", "keeps a warm process")
	}
	if err := d.use(ctx, o, work, platform.URL, job.Secret(platform.Key("alice@example.org"))); err != nil {
		return fmt.Errorf("%w\n%s", err, service.Log())
	}
	return nil
}

// use is what a user of Clowder does: upload a dataset, submit it, look at the job and download the results.
func (d *demo) use(ctx context.Context, o options, work, url string, key job.Secret) (err error) {
	client, err := clowder.NewClient(clowder.Config{URL: url, Cache: disk.Folder{Volume: filepath.Join(work, "cache")}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	user := client.As(key)
	if err := awaitListener(ctx, user); err != nil {
		return err
	}
	d.step("extractor", "the service is ready and Clowder lists %s as alive", extractor)

	id, err := d.upload(ctx, user, o.dataset)
	if err != nil {
		return err
	}
	parameters := map[string]any{}
	if err := json.Unmarshal([]byte(o.parameters), &parameters); err != nil {
		return fmt.Errorf("read -parameters as a JSON object: %w", err)
	}
	clock := &timeline{began: time.Now()}
	submitted, err := user.Submit(ctx, id, extractor, parameters)
	if err != nil {
		return err
	}
	with := "default settings"
	if len(parameters) > 0 {
		with = "the settings " + o.parameters
	}
	_, _ = fmt.Fprintf(d.w, "\nThe dataset is submitted to %s with %s. Clowder shows this log of the job:\n\n", extractor, with)
	last, err := d.follow(ctx, user, submitted)
	if err != nil {
		return err
	}
	if last.Status != "SUCCEEDED" {
		return fmt.Errorf("the job ended as %s: %s", last.Status, last.Message)
	}
	if d.shared != "" {
		if err := clock.print(d.w, d.shared, time.Now()); err != nil {
			return err
		}
	}
	return d.results(ctx, user, id, last, o.out)
}

// demo prints what happens.
type demo struct {
	w     io.Writer
	began time.Time
	// shared is the shared volume, empty for a service that runs elsewhere.
	shared string
}

func (d *demo) step(what, format string, args ...any) {
	_, _ = fmt.Fprintf(d.w, "%6.1f s  %-10s %s\n", time.Since(d.began).Seconds(), what, fmt.Sprintf(format, args...))
}

// awaitListener waits until Clowder has heard the heartbeat.
func awaitListener(ctx context.Context, user *clowder.Session) error {
	for {
		listeners, err := user.Listeners(ctx)
		if err != nil {
			return err
		}
		for _, l := range listeners {
			if l.Name == extractor && l.Alive {
				return nil
			}
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("wait for the heartbeat of the service: %w", err)
		}
	}
}

// upload makes a dataset of the files of a folder.
func (d *demo) upload(ctx context.Context, user *clowder.Session, dir string) (string, error) {
	dataset, err := user.CreateDataset(ctx, "Reviews", "Made by test/dataset/generate.py")
	if err != nil {
		return "", err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			return "", errors.Join(err, fmt.Errorf("%s is not a regular file: remove it from the folder", f.Name()))
		}
		_, err = user.Upload(ctx, dataset.ID, "", clowder.Body{
			Name: f.Name(), ContentType: "text/csv", Size: info.Size(),
			Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(dir, f.Name())) },
		})
		if err != nil {
			return "", err
		}
		names = append(names, fmt.Sprintf("%s (%d kB)", f.Name(), info.Size()/1000))
	}
	d.step("dataset", "%q with %s", dataset.Name, strings.Join(names, ", "))
	return dataset.ID, nil
}

// follow prints the log of the job as it grows and returns the job once it is over.
func (d *demo) follow(ctx context.Context, user *clowder.Session, id string) (clowder.Job, error) {
	shown := 0
	for {
		j, err := user.Job(ctx, id)
		if err != nil {
			return j, err
		}
		updates, err := user.JobUpdates(ctx, id)
		if err != nil {
			return j, err
		}
		for _, u := range updates[min(shown, len(updates)):] {
			d.step("", "%s", u.Text)
		}
		shown = len(updates)
		switch j.Status {
		case "SUCCEEDED", "ERROR", "SKIPPED":
			return j, nil
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return j, fmt.Errorf("wait for the end of the job: %w", err)
		}
	}
}

// results lists what was uploaded and downloads it, since this Clowder ends with the demo.
func (d *demo) results(ctx context.Context, user *clowder.Session, dataset string, last clowder.Job, out string) error {
	files, err := user.Files(ctx, dataset)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	var uploaded []clowder.File
	_, _ = fmt.Fprintf(d.w, "\n%s\n\nUploaded into the dataset:\n", last.Message)
	for _, f := range files {
		if strings.HasPrefix(f.Path, "finetune/") {
			uploaded = append(uploaded, f)
			_, _ = fmt.Fprintf(d.w, "  %9d  %s\n", f.Size, f.Path)
		}
	}
	if !slices.ContainsFunc(uploaded, func(f clowder.File) bool { return path.Base(f.Path) == "model.zip" }) {
		return errors.New("the job succeeded, but there is no model.zip in the dataset: see the log of the job above")
	}
	if _, err := user.Stage(ctx, uploaded, disk.Folder{Volume: out}, nil); err != nil {
		return err
	}
	shown, err := user.Visualizations(ctx, dataset)
	if err != nil {
		return err
	}
	notes, err := user.Metadata(ctx, dataset)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(d.w, "The page of the dataset shows %d visualizations and %d metadata entry.\n\nThe results are also in %s\n", len(shown), len(notes), out)
	return d.next(out)
}

// next prints the commands that a new user wants now. The first opens the report among the results in the folder out.
func (d *demo) next(out string) error {
	report := ""
	err := filepath.WalkDir(out, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "report.html" {
			report = path
		}
		return err
	})
	if err != nil {
		return err
	}
	if here, err := os.Getwd(); err == nil {
		if name, err := filepath.Rel(here, report); err == nil {
			report = name
		}
	}
	_, _ = fmt.Fprintf(d.w, `
Next:
  xdg-open %s     # the report: how good is the model?
  make run DATASET=path/to/your/folder OUT=results     # train on your own data, without Clowder
  make studio     # the web page with runs, models and trainings to click on
`, report)
	return nil
}

// pause waits unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
