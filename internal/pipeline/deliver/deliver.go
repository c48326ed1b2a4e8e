package deliver

import (
	"context"
	"encoding/json"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/handover"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/pipeline/page"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// Platform is where models belong and results go.
type Platform interface {
	model.Clowders
	// Plan returns the notes of a delivery that has not begun, for a caller that saves them first.
	Plan(rec job.Record, d platform.Delivery) (json.RawMessage, error)
}

// Records is the store, as far as it is written before a job is collected.
type Records interface {
	Amend(ctx context.Context, rec job.Record, fn func(*job.Record) error) (job.Record, error)
}

// Statuses tells users what is done.
type Statuses interface {
	Remark(rec job.Record, sentence string)
	SayPassing(rec job.Record, sentence string)
}

// Deliverer delivers what runs made. Its calls may be repeated.
type Deliverer struct {
	Platform   Platform
	Records    Records
	Extractors platform.Extractors
	Volume     volume.Volume
	Registry   *registry.Registry
	Objects    *objects.Mover
	Handover   *handover.Handover
	Pages      *page.Pages
	Statuses   Statuses
	// Temporary says that the registry goes with the job, so that nobody is told of its version.
	Temporary bool
	// Version is this program's, for the report.
	Version string
	// BuildFiles is delivery.Build, except in tests: most of them need no pictures and reports, which take most of the time of a job.
	BuildFiles func(ctx context.Context, run, to disk.Folder, r *results.Result, m manifest.Meta) ([]delivery.Artifact, error)

	collections collections
}

// Collect verifies what the run left behind, registers its model and makes the files that the user gets.
func (d *Deliverer) Collect(ctx context.Context, rec job.Record) (stage.Change, error) {
	result, failure, err := d.result(rec)
	if err != nil {
		return nil, err
	}
	version, err := d.register(ctx, rec, result)
	if err != nil {
		return nil, err
	}
	files, err := d.build(ctx, rec, result, version, failure)
	if err != nil {
		return nil, undelivered(failure, err)
	}
	crash.At(crash.Built)
	doc, err := model.Encode(version)
	if err != nil {
		return nil, err
	}
	plan := rec.Ledger
	if len(plan) == 0 { // an earlier attempt may have begun its delivery
		if plan, err = d.Platform.Plan(rec, files); err != nil {
			return nil, err
		}
	}
	d.collections.keep(rec.Run, collected{attempt: rec.Attempt, result: result, failure: failure, delivery: files, planned: len(rec.Ledger) == 0})
	return func(r *job.Record) error { r.Model, r.Ledger = doc, plan; r.Advance(job.Collected); return nil }, nil
}

// Forget drops what is kept of a run that is over.
func (d *Deliverer) Forget(run string) { d.collections.forget(run) }
