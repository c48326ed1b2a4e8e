package pipeline

import (
	"context"
	"errors"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// runName returns the name of the run of a request that came through a queue. The name depends on the Clowder, because two Clowders may
// use the same job id. A request that an earlier version accepted under a name without the Clowder keeps that name.
func (p *Pipeline) runName(ctx context.Context, queue string, req job.Request) (string, error) {
	configured, address := p.platform.Origin(req)
	if configured != "" || address == "" { // no message names another Clowder, and the name has always told this one
		return rayjob.RunName(configured, queue, req.Key), nil
	}
	before := rayjob.RunName("", queue, req.Key)
	rec, err := p.store.Get(ctx, before)
	if errors.Is(err, job.ErrNotFound) {
		return rayjob.RunName(address, queue, req.Key), nil
	}
	if err != nil {
		return "", err
	}
	if _, earlier := p.platform.Origin(rec.Request); earlier != address {
		return rayjob.RunName(address, queue, req.Key), nil
	}
	return before, nil
}

// RunOf returns the name that the run of a job of Clowder will have, which is sent to this queue.
func (p *Pipeline) RunOf(queue, jobID string) string {
	configured, _ := p.platform.Origin(job.Request{})
	return rayjob.RunName(configured, queue, jobID)
}

// LastStatus returns the newest sentence that the user of a run was told, empty if this process has told none.
func (p *Pipeline) LastStatus(run string) string { return p.reporter.LastText(run) }

// dataset is the dataset of a job as the registry names it. The error about a Clowder that is not served is permanent.
func (p *Pipeline) dataset(rec job.Record) (registry.Dataset, error) {
	address, err := p.platform.Address(rec)
	if err != nil {
		return registry.Dataset{}, err
	}
	if rec.Request.DatasetID == "" {
		return registry.Dataset{ID: registry.Local}, nil
	}
	return registry.Dataset{Clowder: address, ID: rec.Request.DatasetID}, nil
}
