package pipeline

import (
	"context"
	"errors"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// stageInputs checks what the user filled in and brings the dataset onto the shared volume.
func (p *Pipeline) stageInputs(ctx context.Context, rec job.Record) (change, error) {
	if rec.Request.Kind == job.File && rec.Request.DatasetID == "" {
		return nil, badInput(job.Permanent(errors.New("this file is in no dataset, so its results would have no place: add it to a dataset, then submit it again")))
	}
	rec, err := p.noteUser(ctx, rec)
	if err != nil {
		return nil, err
	}
	e := p.cfg.Extractors.Of(rec.Request)
	settings, err := p.settings(rec, e)
	if err != nil {
		return nil, badInput(err)
	}
	joined := len(rec.Request.Announced)
	if joined > 0 {
		end, err := p.chooseNews(ctx, &rec, e, &settings)
		if end != nil || err != nil {
			return unlessJoined(joined, end), badInput(err)
		}
	}
	model, err := p.chooseModel(ctx, rec, e, settings)
	if err != nil {
		return nil, badInput(err)
	}
	allowed, err := p.allowScript(ctx, rec, e, &settings)
	if err != nil {
		return nil, badInput(err)
	}
	if err := p.cfg.Volume.ResetRun(rec.Run); err != nil {
		return nil, err
	}
	rec.Settings = settings
	inputs, err := p.platform.Stage(ctx, rec, p.cfg.Volume.Inputs(rec.Run), func(text string) { p.sayPassing(rec, text) })
	if err != nil {
		return nil, badInput(err)
	}
	fetched, err := p.objects.Stage(ctx, rec, inputs, func(text string) { p.sayPassing(rec, text) })
	if err != nil {
		return nil, badInput(err)
	}
	if inputs = append(inputs, fetched...); len(inputs) == 0 {
		return nil, badInput(job.Permanent(errors.New(emptyDataset(e.Kind))))
	}
	script, err := p.prepareScript(ctx, rec, &settings, allowed, inputs)
	if err != nil {
		return nil, badInput(err)
	}
	p.showLive(ctx, rec)
	crash.At(crash.Downloaded)
	sum, err := p.cfg.Volume.WriteInputs(rec.Run, inputs)
	if err != nil {
		return nil, err
	}
	return unlessJoined(joined, func(r *job.Record) error {
		r.Settings, r.Model, r.InputsSHA256, r.Script = settings, model, sum, script
		if e.Kind == job.Train {
			chosen, _ := settings.Values["config_file"].(string)
			r.SettingsFile = job.SettingsFileOf(inputs, chosen)
		}
		r.Request.Announced = rec.Request.Announced
		r.Advance(job.Staged)
		return nil
	}), nil
}

// noteUser writes down whose job it is, where people look for their own runs.
func (p *Pipeline) noteUser(ctx context.Context, rec job.Record) (job.Record, error) {
	if !p.cfg.NoteUsers || rec.User != "" {
		return rec, nil
	}
	user, err := p.platform.User(ctx, rec)
	if err != nil {
		return rec, err
	}
	return p.store.Amend(ctx, rec, func(r *job.Record) error { r.User = user; return nil })
}

// submit writes what the attempt is to do and gives it to Ray under its name; an attempt that is there already is adopted.
func (p *Pipeline) submit(ctx context.Context, rec job.Record) (change, error) {
	if err := p.release(ctx, rec.Stale); err != nil {
		return nil, err
	}
	inputs, err := p.cfg.Volume.ReadInputs(rec)
	if err != nil {
		return nil, err
	}
	e := p.cfg.Extractors.Of(rec.Request)
	spec := newSpec(rec, e, inputs)
	if err := p.specModels(&spec, rec); err != nil {
		return nil, err
	}
	if err := p.cfg.Volume.WriteJSON(rec.Run, "spec.json", spec); err != nil {
		return nil, err
	}
	crash.At(crash.Specified)
	if rec.Attempt > 1 {
		p.showLive(ctx, rec) // a retried job was over
	}
	if err := p.prepare(ctx, rec); err != nil {
		return nil, err
	}
	a := p.attempt(rec)
	a.Reads, a.Script = p.reads(rec.Run, spec, rec.Overlay()), e.Kind == job.Script
	handle, err := p.backend.Submit(ctx, a)
	if err != nil {
		return nil, err
	}
	crash.At(crash.Submitted)
	p.sayPassing(rec, e.Kind.Noun()+" submitted to Ray")
	return func(r *job.Record) error {
		r.Handle, r.Stale, r.Began = &handle, nil, time.Now().UTC()
		r.Advance(job.Submitted)
		return nil
	}, nil
}

func (p *Pipeline) attempt(rec job.Record) rayjob.Attempt {
	a := p.cfg.Attempt
	a.Run, a.Number, a.Dir = rec.Run, rec.Attempt, p.cfg.Volume.RayRun(rec.Run)
	a.Metadata = maps.Clone(a.Metadata)
	if a.Metadata == nil {
		a.Metadata = map[string]string{}
	}
	a.Metadata["clowder_job"], a.Metadata["clowder_dataset"], a.Metadata["clowder_user"] = rec.Request.JobID, rec.Request.DatasetID, rec.Owner
	a.Resources = resources(rec.Settings)
	return a
}

// resources are what the form asks of a cluster that is made for the job.
func resources(settings job.Settings) rayjob.Resources {
	r := rayjob.Resources{Workers: settings.Workers, GPU: settings.GPU, Profile: settings.Profile}
	if settings.MaxDuration > 0 {
		r.Limit = settings.MaxDuration + graceAfterLimit
	}
	return r
}

// cancel decides the end of a cancelled job; the training is released before the terminal status is sent.
func (p *Pipeline) cancel(_ context.Context, rec job.Record) (change, error) {
	text := "Cancelled by " + rec.CancelledBy
	return func(r *job.Record) error { r.End(job.Cancelled, text); return nil }, nil
}

// release stops an attempt, if it still runs, and frees what Ray keeps for it.
func (p *Pipeline) release(ctx context.Context, h *rayjob.Handle) error {
	if h == nil {
		return nil
	}
	return p.backend.Release(ctx, *h)
}

// finish sends the terminal status and closes the job once it is confirmed. If the end was decided before this process started, Clowder is
// asked first, because the status may have been sent already.
func (p *Pipeline) finish(ctx context.Context, rec job.Record) (change, error) {
	closed := func(r *job.Record) error { return r.Close() }
	found := !p.reporter.HasOutbox(rec.Run)
	switch {
	case p.reporter.EndSent(rec.Run):
		return closed, nil
	case found:
		known, err := p.platform.Known(ctx, rec)
		if err != nil {
			p.log.Warn("cannot see whether the terminal status arrived, sending it again", zap.String("run", rec.Run), zap.Error(err))
		}
		if known.Ended {
			return closed, nil
		}
	}
	if !p.reporter.EndQueued(rec.Run) {
		if err := p.releaseAttempts(ctx, rec); err != nil {
			return nil, err
		}
		p.hideLive(ctx, rec)
		crash.At(crash.EndDecided)
		if found && !rec.StartSent {
			p.sendStart(ctx, rec, true)
		}
		p.sendEnd(rec, found)
	}
	return nil, job.Later(time.Minute, errors.New("the last status is on its way")) // its confirm wakes the job at once
}
