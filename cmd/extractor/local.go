package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/backend"
	"github.com/ncsa/clowder-ray/cmd/extractor/machine"
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
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
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

// localSession is what the local jobs of one command share. The caller closes it.
type localSession struct {
	p    *program
	set  settings.Settings
	log  *zap.Logger
	work string
	// machine carries out the jobs, nil where a Ray cluster does.
	machine *machine.Machine
	console *console
	jobs    int
	// keep leaves the volume of the session where it is.
	keep bool
}

// openLocal makes the temporary folder of a session. Its jobs run on this machine unless the command or the settings name a Ray cluster.
// onlyRay says that they use Ray in any case.
func (p *program) openLocal(cmd *cobra.Command, set settings.Settings, onlyRay bool) (*localSession, error) {
	log, err := newLogger(p.stderr, quietLevel(set.LogLevel), set.LogFormat)
	if err != nil {
		return nil, err
	}
	switch ray, _ := cmd.Flags().GetString("ray"); ray {
	case "":
	case rayOfMachine:
		set.RayAddress, onlyRay = "", true
	default:
		set.RayAddress = ray
	}
	if set.RayAddress == "" {
		if set.RayPython, err = exec.LookPath(localPython(set)); err != nil {
			return nil, fmt.Errorf("find the Python that trains: %w\n%s", err, machine.Remedy)
		}
	}
	work, err := os.MkdirTemp("", "clowder-ray-")
	if err != nil {
		return nil, err
	}
	// Installed models are on the shared volume. Without a volume, the run uses a temporary folder.
	if _, err := os.Stat(set.SharedDir); err != nil {
		set.SharedDir, set.RaySharedDir = filepath.Join(work, sessionVolume), filepath.Join(work, sessionVolume)
	}
	s := &localSession{p: p, set: set, log: log, work: work, console: newConsole(p.stdout)}
	if set.RayAddress == "" {
		s.machine = machine.New(machine.Config{
			Python: set.RayPython, Env: p.modelsOfMachine(), Dir: work, OnlyRay: onlyRay, Say: s.console.say, Poll: set.RayPoll, Log: log,
		})
	}
	return s, nil
}

// sessionVolume is the shared volume in the temporary folder of a session, where no other volume is used.
const sessionVolume = "shared"

// Close stops what the session has started, and removes its temporary folder. A volume in it with a run that is kept stays.
func (s *localSession) Close() (err error) {
	if s.machine != nil {
		err = s.machine.Close()
	}
	if !s.keep || !strings.HasPrefix(s.set.SharedDir, s.work) {
		return errors.Join(err, os.RemoveAll(s.work))
	}
	entries, lost := os.ReadDir(s.work)
	err = errors.Join(err, lost)
	for _, e := range entries {
		if e.Name() != sessionVolume {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.work, e.Name())))
		}
	}
	return err
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

// run runs one job and waits for its end.
func (s *localSession) run(ctx context.Context, l localJob) error {
	l.console = s.console
	if s.machine != nil {
		return s.p.oneJob(ctx, s.set, l, s.machine, s.log)
	}
	ray := backend.JobsAPI(s.set)
	ray.Instance = l.request.Key // unique, so that no other job on the same Ray is taken for this one
	backend, err := jobsapi.New(ray, s.log)
	if err != nil {
		return job.Permanent(err)
	}
	defer backend.CloseIdleConnections()
	return s.p.oneJob(ctx, s.set, l, backend, s.log)
}

// Train runs one training in a work folder of its own, and returns its result. It is sweep.Trainer.
func (s *localSession) Train(ctx context.Context, dataset, out string, parameters map[string]any) (*results.Result, error) {
	l, err := localRequest{dataset: dataset, out: out, extractor: advanced, parameters: parameters}.job()
	if err != nil {
		return nil, err
	}
	s.jobs++
	l.work = filepath.Join(s.work, fmt.Sprintf("job-%d", s.jobs))
	if err := os.Mkdir(l.work, 0o700); err != nil {
		return nil, err
	}
	var found *results.Result
	l.done = func(dir disk.Folder) (err error) {
		found, err = results.ReadFinished(dir)
		return err
	}
	err = s.run(ctx, l)
	return found, err
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
	work     string
	keep     bool
	platform platform.Platform
	console  *console
	request  job.Request
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
	run := rayjob.RunName("local", e.Info.Name, l.request.Key)
	if _, _, err := store.Accept(background, job.New(run, e.Kind, l.request, "")); err != nil {
		return err
	}
	cfg := pipelineConfig(set, all, volume, attempt, checkTrainer)
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

// quietLevel raises the level info to warn, so that log messages do not disturb the progress bar. Other levels stay.
func quietLevel(level string) string {
	if level == zap.InfoLevel.String() {
		return zap.WarnLevel.String()
	}
	return level
}
