package attempt

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/page"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// Statuses tells users what happens to an attempt.
type Statuses interface {
	Say(rec job.Record, sentence string)
	Remark(rec job.Record, sentence string)
	SayPassing(rec job.Record, sentence string)
	SayProgress(rec job.Record, sentence string)
}

// Submitter gives attempts to Ray.
type Submitter struct {
	Backend    rayjob.Backend
	Releaser   *Releaser
	Volume     volume.Volume
	Extractors platform.Extractors
	Registry   *registry.Registry
	Clowders   model.Clowders
	Pages      *page.Pages
	Statuses   Statuses
	// Template holds what all attempts share: the interpreter, the trainer and its environment.
	Template rayjob.Attempt
	// Trainer is the newest look at the trainer on the volume, nil for none.
	Trainer *Trainer
}

// Submit writes what the attempt is to do and gives it to Ray under its name; an attempt that is there already is adopted.
func (s *Submitter) Submit(ctx context.Context, rec job.Record) (stage.Change, error) {
	if err := s.Releaser.release(ctx, rec.Stale); err != nil {
		return nil, err
	}
	inputs, err := s.Volume.ReadInputs(rec)
	if err != nil {
		return nil, err
	}
	if rec.Resolved == nil { // an older version staged the job
		read := func(in job.Input) (string, error) { return s.Volume.ReadInput(rec.Run, in) }
		resolved, err := s.Extractors.Of(rec.Request).Resolve(rec.Settings.Values, inputs, read)
		if err != nil {
			return nil, stage.BadInput(err)
		}
		rec.Resolve(resolved)
	}
	spec := newSpec(rec, inputs)
	if err := s.specModels(&spec, rec); err != nil {
		return nil, err
	}
	if err := s.Volume.WriteJSON(rec.Run, "spec.json", spec); err != nil {
		return nil, err
	}
	crash.At(crash.Specified)
	if rec.Attempt > 1 {
		s.Pages.Show(ctx, rec) // a retried job was over
	}
	if err := s.prepare(ctx, rec); err != nil {
		return nil, err
	}
	a := s.attempt(rec)
	a.Reads, a.Script = reads(rec.Run, spec, rec.Overlay()), rec.Kind == job.Script
	handle, err := s.Backend.Submit(ctx, a)
	if err != nil {
		return nil, err
	}
	crash.At(crash.Submitted)
	if handle.OnRay() {
		s.Statuses.SayPassing(rec, rec.Kind.Noun()+" submitted to Ray")
	}
	return func(r *job.Record) error {
		r.Handle, r.Stale, r.Began = &handle, nil, time.Now().UTC()
		r.Resolve(*rec.Resolved)
		r.Advance(job.Submitted)
		return nil
	}, nil
}

func (s *Submitter) attempt(rec job.Record) rayjob.Attempt {
	a := s.Template
	a.Run, a.Number, a.Dir = rec.Run, rec.Attempt, s.Volume.RayRun(rec.Run)
	a.Metadata = maps.Clone(a.Metadata)
	if a.Metadata == nil {
		a.Metadata = map[string]string{}
	}
	a.Metadata["clowder_job"], a.Metadata["clowder_dataset"], a.Metadata["clowder_user"] = rec.Request.JobID, rec.Request.DatasetID, rec.Owner
	a.Resources = resources(rec.Settings)
	return a
}

// resources are what the settings ask of a cluster that is made for the job.
func resources(settings job.Settings) rayjob.Resources {
	r := rayjob.Resources{Workers: settings.Workers, GPU: settings.GPU, Profile: settings.Profile}
	if settings.MaxDuration > 0 {
		r.Limit = settings.MaxDuration + graceAfterLimit
	}
	return r
}

// trainerPause is how long jobs wait until a trainer that cannot be brought back is looked at again.
const trainerPause = time.Minute

// trainerChecked is how old a look at the trainer may be at a submission. Reading all of it takes as much as a small job does otherwise,
// and many jobs may be submitted at once.
const trainerChecked = time.Second

// prepare makes ready what an attempt finds on the shared volume: the trainer as this program brought it, and a run folder into
// which the pods can write, which run as another user of the same group.
func (s *Submitter) prepare(ctx context.Context, rec job.Record) error {
	if s.Trainer != nil {
		if _, err := s.Trainer.Get(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return job.Later(trainerPause, &rayjob.SettingError{Setting: "SHARED_DIR", Text: fmt.Sprintf("SHARED_DIR: the trainer cannot be installed or checked: %v", err)})
		}
	}
	return s.Volume.Share(rec.Run)
}

// Trainer is the newest look at the trainer on the volume.
type Trainer = rayjob.Cached[struct{}]

// NewTrainer returns a look at the trainer that check makes, which repairs it where it can; nil where check is nil.
func NewTrainer(check func() error) *Trainer {
	if check == nil {
		return nil
	}
	return rayjob.NewCached(trainerChecked, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, check() })
}

// Isolates reports whether the script of a job with these settings would run in pods of its own. An error says why it cannot run.
func (s *Submitter) Isolates(settings job.Settings) (bool, error) {
	backend, can := s.Backend.(rayjob.Isolator)
	if !can {
		return false, nil
	}
	return backend.Isolates(resources(settings))
}
