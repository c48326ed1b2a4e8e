package deliver

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// build makes the deliverables, or finds them made. version is the model that the record names, nil for none. failure is why the run failed,
// empty for a success.
func (d *Deliverer) build(ctx context.Context, rec job.Record, result *results.Result, version *registry.Version, failure string) (platform.Delivery, error) {
	meta, err := d.meta(rec, version)
	if err != nil {
		return platform.Delivery{}, err
	}
	meta.Failure, meta.Page = failure, d.Pages.Link(rec)
	artifacts, err := d.BuildFiles(ctx, d.Volume.Run(rec.Run), d.Volume.Deliverables(rec.Run), result, meta)
	return platform.Delivery{
		Folders: delivery.Folder(meta, result), Artifacts: artifacts, Content: delivery.Metadata(meta, result), Prediction: result.Prediction,
	}, err
}

// meta is what the deliverables say about the job.
func (d *Deliverer) meta(rec job.Record, version *registry.Version) (manifest.Meta, error) {
	inputs, err := d.Volume.ReadInputs(rec)
	return manifest.Meta{
		Run: rec.Run, JobID: rec.Request.JobID, DatasetID: rec.Request.DatasetID, DatasetName: rec.Request.Name,
		Extractor: d.Extractors.Of(rec.Request).Info.Name, Version: d.Version, RunName: rec.Settings.RunName, Started: rec.Created, Settings: rec.Settings.Values,
		Inputs: inputs, NotRead: rec.NotRead, Model: modelVersion(rec, version),
	}, err
}

// built returns what collect has built: from memory, or read and built again.
func (d *Deliverer) built(ctx context.Context, rec job.Record) (collected, error) {
	if kept, ok := d.collections.take(rec.Run, rec.Attempt); ok {
		return kept, nil
	}
	result, failure, err := d.result(rec)
	if err != nil {
		return collected{}, err
	}
	version, err := model.Of(rec)
	if err != nil {
		return collected{}, err
	}
	files, err := d.build(ctx, rec, result, version, failure)
	return collected{result: result, failure: failure, delivery: files}, undelivered(failure, err)
}
