package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
)

// addLocalFlags adds the flags of a local job to a command.
func addLocalFlags(cmd *cobra.Command) {
	cmd.Flags().String("out", "", "folder for the results (required)")
	cmd.Flags().StringArray("param", nil, "option as key=value, see docs/training.md; can be repeated")
	cmd.Flags().String("ray", "", rayHelp)
	cmd.Flags().Bool("keep", false, "keep the run folder with checkpoints and logs")
}

// rayHelp describes the flag --ray.
const rayHelp = "address of the Ray cluster to use, or local for a Ray on this machine; without it and without RAY_ADDRESS, only a training with " +
	"several workers uses Ray"

// rayOfMachine is the value of --ray for a Ray on this machine.
const rayOfMachine = "local"

// localRequest is a local job as given on the command line.
type localRequest struct {
	dataset, out string
	// extractor is the name of the extractor for the job, and parameters are the values of its form.
	extractor  string
	parameters map[string]any
	// model is the path of a model file or folder; empty means none.
	model string
}

// newLocalRequest reads the flags that all local jobs share.
func newLocalRequest(cmd *cobra.Command, dataset, extractor string) (localRequest, error) {
	out, _ := cmd.Flags().GetString("out")
	pairs, _ := cmd.Flags().GetStringArray("param")
	if out == "" {
		return localRequest{}, job.Permanent(errors.New("--out is missing: set it to the folder for the results"))
	}
	parameters, err := parameters(pairs)
	return localRequest{dataset: dataset, out: out, extractor: extractor, parameters: parameters}, err
}

// runLocally runs one job from a local folder to another one and waits for its end.
func (p *program) runLocally(cmd *cobra.Command, set settings.Settings, r localRequest) (err error) {
	keep, _ := cmd.Flags().GetBool("keep")
	l, err := r.job()
	if err != nil {
		return err
	}
	s, err := p.openLocal(cmd, set, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l.work, l.keep, s.keep = s.work, keep, keep
	return s.run(cmd.Context(), l)
}

// job describes the job. It still needs its work folder.
func (r localRequest) job() (localJob, error) {
	platform, err := folder.New(r.dataset, r.out)
	if err == nil && r.model != "" {
		err = platform.GiveModel(r.model)
	}
	return localJob{platform: platform, request: job.Request{
		Key: uuid.NewString(), APIVersion: 2, Extractor: r.extractor, Kind: job.Dataset, Name: datasetName(r.dataset),
		Parameters: r.parameters, BodyHash: "local", Received: time.Now().UTC(),
	}}, err
}

// datasetName returns the name of a folder, also of one that is given as a dot.
func datasetName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// localJob holds what a local job needs besides the settings.
type localJob struct {
	work string
	keep bool
	// temporary says that the shared volume goes with the command.
	temporary bool
	platform  platform.Platform
	console   *console
	request   job.Request
	// done looks at the run folder of a job that succeeded, before it is removed; nil for nothing.
	done func(disk.Folder) error
}

// interruptGrace is how long a training may take to stop after an interrupt.
const interruptGrace = 45 * time.Second

func (p *program) oneJob(ctx context.Context, set settings.Settings, l localJob, backend rayjob.Backend, log *zap.Logger) (err error) {
	volume := volume.Volume{Dir: set.SharedDir, RayDir: set.RaySharedDir, Barrier: new(disk.Barrier)}
	all, err := extractors(set, volume)
	if err != nil {
		return err
	}
	attempt, checkTrainer, err := attemptTemplate(set)
	if err != nil {
		return err
	}
	attempt.Warm = 0 // the Ray, or the program on the volume, may go with this job
	// An interrupt cancels the job. Everything else keeps running until the training has stopped.
	background, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	store, err := job.OpenSQLite(background, filepath.Join(l.work, "jobs.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	e := all.Of(l.request)
	if err := e.Info.CheckNames(l.request.Parameters); err != nil {
		return err
	}
	run := rayjob.RunName("local", e.Info.Name, l.request.Key)
	if _, _, err := store.Accept(background, job.New(run, e.Kind, l.request, "")); err != nil {
		return err
	}
	cfg := pipelineConfig(set, all, volume, attempt, checkTrainer)
	cfg.Temporary = l.temporary
	bodies, err := cache.Open(volume.Cache(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bodies.Close()) }()
	if cfg.Objects, err = set.Scripts.Objects(objectLimits(set), bodies, log); err != nil {
		return err
	}
	cfg.Watch, cfg.Over = l.console.watch, func(string) { stop(pipeline.ErrStopping) }
	pipe := pipeline.New(cfg, store, backend, l.platform, l.console, metrics.New(prometheus.NewRegistry()), log)
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
	if l.done != nil && rec.Ending != nil && rec.Ending.State == job.Done {
		if err := l.done(volume.Run(rec.Run)); err != nil {
			return err
		}
	}
	return p.exitFor(rec, volume, l.keep)
}

// exitFor returns the error, and so the exit code, for the end of the job.
func (p *program) exitFor(rec job.Record, volume volume.Volume, keep bool) error {
	done := rec.Ending != nil && rec.Ending.State == job.Done
	if done && !keep {
		return volume.RemoveRun(rec.Run)
	}
	switch {
	case done:
		_, err := fmt.Fprintln(p.stdout, "The run folder is", volume.Run(rec.Run).Path())
		return err
	case rec.Ending == nil:
		return errors.New("interrupted before the training had stopped")
	case rec.Ending.BadInput:
		return errors.Join(job.Permanent(errors.New(rec.Ending.Text)), volume.RemoveRun(rec.Run))
	case rec.Ending.State == job.Cancelled:
		return errors.Join(errors.New(rec.Ending.Text), volume.RemoveRun(rec.Run))
	default:
		if keep {
			_, _ = fmt.Fprintln(p.stdout, "The run folder is", volume.Run(rec.Run).Path())
		}
		return fmt.Errorf("%s\n%s", rec.Ending.Text, results.LastLines(volume.Run(rec.Run), 15))
	}
}

// parameters reads the key=value pairs of the command line. The form converts the values.
func parameters(pairs []string) (map[string]any, error) {
	out := map[string]any{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, job.Permanent(fmt.Errorf("--param %s: must have the form key=value", pair))
		}
		out[key] = value
	}
	return out, nil
}
