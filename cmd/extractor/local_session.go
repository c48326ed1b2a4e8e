package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/backend"
	"github.com/ncsa/clowder-ray/cmd/extractor/machine"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/results"
)

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
	if !s.keep || !s.ownVolume() {
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

// ownVolume says whether the shared volume is in the temporary folder.
func (s *localSession) ownVolume() bool { return strings.HasPrefix(s.set.SharedDir, s.work) }

// run runs one job and waits for its end.
func (s *localSession) run(ctx context.Context, l localJob) error {
	l.console, l.temporary = s.console, s.ownVolume()
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
