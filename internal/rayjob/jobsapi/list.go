package jobsapi

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

var _ rayjob.Lister = (*Client)(nil)

// List implements rayjob.Lister. It requests a new listing, since it is called rarely and its result ends attempts.
func (c *Client) List(ctx context.Context) ([]rayjob.Handle, error) {
	if c.cfg.Instance == "" {
		return nil, errors.New("list the trainings on Ray: this service has no instance name, so it cannot recognise its own jobs")
	}
	var own []rayjob.Handle
	err := c.do(ctx, call{method: http.MethodGet, path: "/api/jobs/", what: "list the jobs"}, func(r io.Reader) error {
		own = nil
		return decodeListing(io.LimitReader(r, maxListing), func(d owned) {
			if d.Metadata[rayjob.LabelInstance] == c.cfg.Instance {
				own = append(own, rayjob.Handle{Backend: backendName, ID: d.SubmissionID, Address: c.address})
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return own, nil
}
