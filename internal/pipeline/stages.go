package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/text"
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
		if e.Kind == platform.Train {
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
	a.Reads, a.Script = p.reads(rec.Run, spec, rec.Overlay()), e.Kind == platform.Script
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

// collect verifies what the run left behind, registers its model and makes the files that the user gets.
func (p *Pipeline) collect(ctx context.Context, rec job.Record) (change, error) {
	result, failure, err := p.result(rec)
	if err != nil {
		return nil, err
	}
	model, err := p.register(ctx, rec, result)
	if err != nil {
		return nil, err
	}
	d, err := p.build(ctx, rec, result, model, failure)
	if err != nil {
		return nil, undelivered(failure, err)
	}
	crash.At(crash.Built)
	doc, err := encodeModel(model)
	if err != nil {
		return nil, err
	}
	plan := rec.Ledger
	if len(plan) == 0 { // an earlier attempt may have begun its delivery
		if plan, err = p.platform.Plan(rec, d); err != nil {
			return nil, err
		}
	}
	p.collections.keep(rec.Run, collected{attempt: rec.Attempt, result: result, failure: failure, delivery: d, planned: len(rec.Ledger) == 0})
	return func(r *job.Record) error { r.Model, r.Ledger = doc, plan; r.Advance(job.Collected); return nil }, nil
}

// keepStaged drops the ids of files that were not staged for this job: an answer is added to the file with its id, and the user may
// edit more files than those of the dataset.
func keepStaged(made *results.Prediction, inputs []job.Input) {
	staged := make(map[string]bool, len(inputs))
	for _, in := range inputs {
		staged[in.ID] = true
	}
	for i, a := range made.PerFile {
		if !staged[a.ID] {
			made.PerFile[i].ID = ""
		}
	}
}

// build makes the deliverables, or finds them made. model is the model that the record names, nil for none. failure is why the run failed,
// empty for a success.
func (p *Pipeline) build(ctx context.Context, rec job.Record, result *results.Result, model *registry.Version, failure string) (platform.Delivery, error) {
	meta, err := p.meta(rec, model)
	if err != nil {
		return platform.Delivery{}, err
	}
	meta.Failure, meta.Page = failure, p.page(rec)
	artifacts, err := p.buildFiles(ctx, p.cfg.Volume.Run(rec.Run), p.cfg.Volume.Deliverables(rec.Run), result, meta)
	return platform.Delivery{
		Folders: delivery.Folder(meta, result), Artifacts: artifacts, Content: delivery.Metadata(meta, result), Prediction: result.Prediction,
	}, err
}

// meta is what the deliverables say about the job.
func (p *Pipeline) meta(rec job.Record, model *registry.Version) (manifest.Meta, error) {
	inputs, err := p.cfg.Volume.ReadInputs(rec)
	return manifest.Meta{
		Run: rec.Run, JobID: rec.Request.JobID, DatasetID: rec.Request.DatasetID, DatasetName: rec.Request.Name,
		Extractor: p.cfg.Extractors.Of(rec.Request).Info.Name, Version: p.cfg.Version, RunName: rec.Settings.RunName, Started: rec.Created, Settings: rec.Settings.Values,
		Inputs: inputs, Model: modelVersion(rec, model),
	}, err
}

// upload hands the deliverables of a run over. A failed script ends as a failure all the same.
func (p *Pipeline) upload(ctx context.Context, rec job.Record) (change, error) {
	c, err := p.built(ctx, rec)
	if err != nil {
		return nil, err
	}
	result, failure, d := c.result, c.failure, c.delivery
	p.sayPassing(rec, fmt.Sprintf("Uploading %s (%s)", made(result.Kind), text.Count(len(d.Artifacts), "file")))
	copied := ""
	end := done(func(where string) string {
		return stoppedEarly(rec, result) + strings.TrimSuffix(report.NewVerdict(result).Sentence, ".") + ". " + where + copied
	})
	if failure != "" {
		end = failedButKept(result, failure, &copied)
	}
	apply, err := p.deliver(ctx, rec, d, c.planned, end)
	if err != nil {
		return nil, undelivered(failure, err)
	}
	if copied, err = p.objects.Deliver(ctx, rec, result); err != nil {
		return nil, undelivered(failure, err)
	}
	return apply, nil
}

// done is the happy end of a delivery. words makes its sentence, given where the user finds the results.
func done(words func(where string) string) func(r *job.Record, where string) {
	return func(r *job.Record, where string) { r.End(job.Done, words(where)) }
}

// deliver hands d over and decides the end of the job, given where the user finds the results. planned says that this process has written the plan
// of the delivery and has not begun it.
func (p *Pipeline) deliver(ctx context.Context, rec job.Record, d platform.Delivery, planned bool, end func(r *job.Record, where string)) (change, error) {
	last := rec.Ledger
	ledger := p.ledger(ctx, rec)
	ledger.New = planned
	ledger.Last = func(doc json.RawMessage) { last = doc }
	where, err := p.platform.Deliver(ctx, rec, d, ledger, func(text string) { p.remark(rec, text) })
	if err != nil {
		return nil, err
	}
	crash.At(crash.Delivered)
	return func(r *job.Record) error {
		r.Ledger = last
		r.Advance(job.Uploaded)
		end(r, where)
		return nil
	}, nil
}

// ledger keeps the notes on what is delivered in the record of the job.
func (p *Pipeline) ledger(ctx context.Context, rec job.Record) platform.LedgerFile {
	return platform.LedgerFile{Saved: rec.Ledger, Last: func(json.RawMessage) {}, Save: func(doc json.RawMessage) error {
		_, err := p.store.Change(context.WithoutCancel(ctx), rec.Run, func(r *job.Record) error { r.Ledger = doc; return nil })
		return err
	}}
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

// made is what a run hands over.
func made(kind results.ResultKind) string {
	switch kind {
	case results.ResultPrediction:
		return "the predictions and the report"
	case results.ResultCheck:
		return "the report of the check"
	case results.ResultScript:
		return "the files of the script and the report"
	default:
		return "the model, the metrics and the report"
	}
}
