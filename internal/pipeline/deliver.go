package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/text"
)

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
