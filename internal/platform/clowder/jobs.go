package clowder

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// datasets is the collection of a job that was started for a dataset.
const datasets = "datasets"

// Recent lists the newest jobs that the user of rec has submitted to an extractor.
func (c *Platform) Recent(ctx context.Context, rec job.Record, e platform.Extractor) ([]platform.Submitted, error) {
	shown, err := c.jobs(rec)
	if err != nil {
		return nil, err
	}
	recent, err := shown.RecentJobs(ctx, e.Name())
	if err != nil {
		return nil, err
	}
	out := make([]platform.Submitted, len(recent))
	for i, j := range recent {
		out[i] = platform.Submitted{
			ID: j.ID, At: j.Submitted(), Waiting: j.Status == clowder.Created,
			Resource: j.Resource.ID, OfDataset: j.Resource.Collection == datasets, Parameters: j.Params,
		}
	}
	return out, nil
}

// Submission writes the message of a lost job about a dataset again, with the key of rec, which belongs to the same user.
func (c *Platform) Submission(ctx context.Context, rec job.Record, lost platform.Submitted) ([]byte, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, err
	}
	d, err := s.Dataset(ctx, lost.Resource)
	if err != nil {
		return nil, err
	}
	j := clowder.Job{ID: lost.ID, Params: lost.Parameters, Resource: clowder.Resource{Collection: datasets, ID: lost.Resource}}
	return j.Submission(rec.Request.Host, d.Name, rec.SecretKey)
}
