package intake

import (
	"context"
	"errors"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Origins tells where requests are from.
type Origins interface {
	// Origin returns the address of the Clowder that sent the request exactly as the operator has set it, empty where messages alone name
	// it, and the host that the request names, always in the same spelling.
	Origin(req job.Request) (configured, named string)
}

// Records reads records.
type Records interface {
	Get(ctx context.Context, run string) (job.Record, error)
}

// Names gives runs their names.
type Names struct {
	origins Origins
	records Records
}

// NewNames returns names that depend on the Clowder of a request and on the names that earlier versions gave.
func NewNames(origins Origins, records Records) *Names { return &Names{origins, records} }

// Run returns the name of the run of a request that came through a queue. The name depends on the Clowder, because two Clowders may
// use the same job id. A request that an earlier version accepted under a name without the Clowder keeps that name.
func (n *Names) Run(ctx context.Context, queue string, req job.Request) (string, error) {
	configured, address := n.origins.Origin(req)
	if configured != "" || address == "" { // no message names another Clowder, and the name has always told this one
		return rayjob.RunName(configured, queue, req.Key), nil
	}
	before := rayjob.RunName("", queue, req.Key)
	rec, err := n.records.Get(ctx, before)
	if errors.Is(err, job.ErrNotFound) {
		return rayjob.RunName(address, queue, req.Key), nil
	}
	if err != nil {
		return "", err
	}
	if _, earlier := n.origins.Origin(rec.Request); earlier != address {
		return rayjob.RunName(address, queue, req.Key), nil
	}
	return before, nil
}

// Of returns the name that the run of a job of Clowder will have, which is sent to this queue.
func (n *Names) Of(queue, jobID string) string {
	configured, _ := n.origins.Origin(job.Request{})
	return rayjob.RunName(configured, queue, jobID)
}
