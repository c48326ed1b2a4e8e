package jobsapi

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

var _ rayjob.Lister = (*Client)(nil)

// List implements rayjob.Lister. It reads the listing anew, since it is called seldom and decides about an end.
func (c *Client) List(ctx context.Context) ([]rayjob.Handle, error) {
	if c.cfg.Instance == "" {
		return nil, errors.New("list the trainings on Ray: this service has no name to know its own by")
	}
	var own []rayjob.Handle
	err := c.do(ctx, call{method: http.MethodGet, path: "/api/jobs/", what: "list its jobs"}, func(r io.Reader) error {
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
