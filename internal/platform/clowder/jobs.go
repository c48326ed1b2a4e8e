package clowder

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// Recent lists the newest jobs that the user of rec has submitted to an extractor.
func (c *Platform) Recent(ctx context.Context, rec job.Record, e platform.Extractor) ([]clowder.Job, error) {
	s, err := c.second(rec)
	if err != nil {
		return nil, err
	}
	return s.RecentJobs(ctx, e.Name())
}

// Submission writes the message of a lost job again, with the key of rec, which belongs to the same user.
func (c *Platform) Submission(ctx context.Context, rec job.Record, j clowder.Job) ([]byte, error) {
	s, err := c.second(rec)
	if err != nil {
		return nil, err
	}
	d, err := s.Dataset(ctx, j.Resource.ID)
	if err != nil {
		return nil, err
	}
	return j.Submission(rec.Request.Host, d.Name, rec.SecretKey)
}
