package jobsapi

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// warmPolls is the time between two tries to reach a Ray that is not there yet, in intervals of the polling.
const warmPolls = 5

// Warm lets the machines of the cluster get warm processes, before the first run comes. It returns when Ray has the request or ctx ends.
// Nothing depends on it: a run that finds no warm process starts its own, and requests them for the next run. The template has what all
// attempts have in common.
func (c *Client) Warm(ctx context.Context, template rayjob.Attempt) {
	body := submitRequest{
		SubmissionID: "warm-" + strings.ToLower(rand.Text()), Entrypoint: template.WarmEntrypoint(), Metadata: map[string]string{},
		RuntimeEnv: runtimeEnv{EnvVars: template.Environment()},
	}
	req := call{method: http.MethodPost, path: "/api/jobs/", body: body, what: "request warm processes", changes: true}
	for {
		err := c.do(ctx, req, func(r io.Reader) error {
			_, err := io.Copy(io.Discard, io.LimitReader(r, maxAnswer))
			return err
		})
		if kind, _ := job.Classify(err); err == nil || kind == job.KindPermanent || kind == job.KindUnknown {
			if err != nil {
				c.log.Info("no warm processes were requested", zap.Error(err))
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(warmPolls * c.cfg.PollInterval):
		}
	}
}
