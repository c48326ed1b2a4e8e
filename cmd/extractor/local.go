package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/results"
)

// addLocalFlags gives a command the flags of a job between two folders.
func addLocalFlags(cmd *cobra.Command) {
	cmd.Flags().String("out", "", "folder for the results")
	cmd.Flags().StringArray("param", nil, "key=value of an option, see docs/training.md; may be repeated")
	cmd.Flags().String("ray", "", "address of a Ray to use; without it, and without RAY_ADDRESS, a local one is started")
	cmd.Flags().Bool("keep", false, "keep the run folder, with checkpoints and logs")
}

// localRequest is what a user asks for on the command line.
type localRequest struct {
	dataset, out string
	// extractor is the one that would do it in Clowder, and parameters what its form would say.
	extractor  string
	parameters map[string]any
	// model is a file or a folder for the job, empty for none.
	model string
}

// newLocalRequest reads the flags that every local job has.
func newLocalRequest(cmd *cobra.Command, dataset, extractor string) (localRequest, error) {
	out, _ := cmd.Flags().GetString("out")
	pairs, _ := cmd.Flags().GetStringArray("param")
	if out == "" {
		return localRequest{}, job.Permanent(errors.New("--out is missing: name the folder for the results"))
	}
	parameters, err := parameters(pairs)
	return localRequest{dataset: dataset, out: out, extractor: extractor, parameters: parameters}, err
}

// runLocally wires the pipeline between two folders and waits for its one job.
func (p *program) runLocally(cmd *cobra.Command, set Settings, r localRequest) (err error) {
	ctx := cmd.Context()
	keep, _ := cmd.Flags().GetBool("keep")
	if ray, _ := cmd.Flags().GetString("ray"); ray != "" {
		set.RayAddress = ray
	}
	platform, err := folder.New(r.dataset, r.out)
	if err != nil {
		return err
	}
	if r.model != "" {
		if err := platform.GiveModel(r.model); err != nil {
			return err
		}
	}
	work, err := os.MkdirTemp("", "clowder-ray-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	// Installed models lie on the shared volume; without one the run needs only a place to work.
	if _, err := os.Stat(set.SharedDir); err != nil {
		set.SharedDir, set.RaySharedDir = filepath.Join(work, "shared"), filepath.Join(work, "shared")
	}
	console := newConsole(p.stdout)
	if set.RayAddress == "" {
		console.say("Starting a local Ray")
		local, err := raylocal.Start(ctx, raylocal.Config{Python: set.RayPython, Dir: filepath.Join(work, "ray")})
		if err != nil {
			return fmt.Errorf("%w\nRAY_PYTHON must name a Python that has ray, torch and transformers; make run prepares one", err)
		}
		defer func() { err = errors.Join(err, local.Stop()) }()
		set.RayAddress, set.RayTokenFile = local.Address, local.TokenFile
	}
	return p.oneJob(ctx, set, localJob{
		work: work, keep: keep, platform: platform, console: console,
		request: job.Request{
			Key: uuid.NewString(), APIVersion: 2, Extractor: r.extractor, Kind: job.Dataset, Name: datasetName(r.dataset),
			Parameters: r.parameters, BodyHash: "local", Received: time.Now().UTC(),
		},
	})
}

// datasetName is what a folder is called, also where it is given as a dot.
func datasetName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// localJob is what one run on folders needs beside the settings.
type localJob struct {
	work     string
	keep     bool
	platform platform.Platform
	console  *console
	request  job.Request
}

// interruptGrace is how long a training may take to stop after the user asked for it.
const interruptGrace = 45 * time.Second

func (p *program) oneJob(ctx context.Context, set Settings, l localJob) (err error) {
	log, err := newLogger(p.stderr, quieter(set.LogLevel), set.LogFormat)
	if err != nil {
		return err
	}
	volume := volume.Volume{Dir: set.SharedDir, RayDir: set.RaySharedDir}
	all, err := extractors(set, volume)
	if err != nil {
		return err
	}
	attempt, checkTrainer, err := attemptTemplate(set)
	if err != nil {
		return err
	}
	ray := rayConfig(set)
	ray.Instance = l.request.Key // of this one job, so that no other that runs on the same Ray is taken for it
	backend, err := jobsapi.New(ray, log)
	if err != nil {
		return job.Permanent(err)
	}
	defer backend.CloseIdleConnections()
	// The user's own interrupt cancels the job; everything here outlives it until the training has stopped.
	background, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	store, err := job.OpenSQLite(background, filepath.Join(l.work, "jobs.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	run := rayjob.RunName("local", all.Of(l.request).Info.Name, l.request.Key)
	if _, _, err := store.Accept(background, job.New(run, l.request, "")); err != nil {
		return err
	}
	cfg := pipelineConfig(set, all, volume, attempt, checkTrainer)
	cfg.Watch, cfg.Over = l.console.watch, func(string) { stop(pipeline.ErrStopping) }
	pipe := pipeline.New(cfg, store, backend, l.platform, l.console, pipeline.NewMetrics(prometheus.NewRegistry()), log)
	defer context.AfterFunc(ctx, func() {
		_, _ = store.Change(background, run, func(r *job.Record) error { return r.Cancel("you") })
		time.AfterFunc(interruptGrace, func() { stop(pipeline.ErrStopping) })
	})()
	if err := pipe.Run(background); err != nil {
		return err
	}
	l.console.finish()
	rec, err := store.Get(context.WithoutCancel(ctx), run)
	if err != nil {
		return err
	}
	return p.conclude(rec, volume, l.keep)
}

// conclude turns the end of the job into the end of the command.
func (p *program) conclude(rec job.Record, volume volume.Volume, keep bool) error {
	done := rec.Ending != nil && rec.Ending.State == job.Done
	if done && !keep {
		return volume.RemoveRun(rec.Run)
	}
	switch {
	case done:
		_, err := fmt.Fprintln(p.stdout, "The run folder is", volume.Run(rec.Run).Path())
		return err
	case rec.Ending == nil:
		return errors.New("interrupted before the training could be stopped")
	case rec.Ending.BadInput:
		return errors.Join(job.Permanent(errors.New(rec.Ending.Text)), volume.RemoveRun(rec.Run))
	case rec.Ending.State == job.Cancelled:
		return errors.Join(errors.New(rec.Ending.Text), volume.RemoveRun(rec.Run))
	default:
		return fmt.Errorf("%s\n%s", rec.Ending.Text, results.LastLines(volume.Run(rec.Run), 15))
	}
}

// parameters reads the key=value pairs of the command line; the form gives them their types.
func parameters(pairs []string) (map[string]any, error) {
	out := map[string]any{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, job.Permanent(fmt.Errorf("--param %s: must look like key=value", pair))
		}
		out[key] = value
	}
	return out, nil
}

// quieter keeps the service's own notes off a console that shows progress, unless they were asked for.
func quieter(level string) string {
	if level == zap.InfoLevel.String() {
		return zap.WarnLevel.String()
	}
	return level
}
