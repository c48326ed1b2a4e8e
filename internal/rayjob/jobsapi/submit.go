package jobsapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// submitRequest is the body of a submission. Ray rejects unknown keys, so it has only keys that every version knows.
type submitRequest struct {
	SubmissionID string            `json:"submission_id"`
	Entrypoint   string            `json:"entrypoint"`
	RuntimeEnv   runtimeEnv        `json:"runtime_env"`
	Metadata     map[string]string `json:"metadata"`
}

type runtimeEnv struct {
	EnvVars map[string]string `json:"env_vars"`
}

// rounds is how often one call repeats a submission of unknown outcome.
const rounds = 2

// Submit implements rayjob.Backend. It posts first and looks up the job only if that fails: Ray stores one job per id, so the
// first submission costs one request and a repeated one finds the job.
func (c *Client) Submit(ctx context.Context, a rayjob.Attempt) (rayjob.Handle, error) {
	if err := a.Check(); err != nil {
		return rayjob.Handle{}, err
	}
	v, err := c.version.Get(ctx)
	if err != nil {
		return rayjob.Handle{}, err
	}
	h := rayjob.Handle{Backend: backendName, ID: a.Name(), Address: c.address, Session: v.Session}
	for range rounds {
		if err = c.post(ctx, a); err == nil {
			return h, nil
		}
		if kind, _ := job.Classify(err); kind != job.KindUnknown {
			return rayjob.Handle{}, err
		}
		switch found, lookErr := c.look(ctx, h.ID); {
		case lookErr == nil:
			return h, c.ours(found, a)
		case !notFound(lookErr):
			return rayjob.Handle{}, err
		}
	}
	return rayjob.Handle{}, err
}

// post submits once. A taken id is an error of unknown outcome, since the head turns the agent's 400 into a 500 with a
// traceback. Submit then looks up the job.
func (c *Client) post(ctx context.Context, a rayjob.Attempt) error {
	body := submitRequest{
		SubmissionID: a.Name(), Entrypoint: a.Entrypoint(), Metadata: a.Labels(), RuntimeEnv: runtimeEnv{EnvVars: a.Environment()},
	}
	if c.cfg.Instance != "" {
		body.Metadata[rayjob.LabelInstance] = c.cfg.Instance
	}
	req := call{method: http.MethodPost, path: "/api/jobs/", body: body, what: "submit a training", changes: true}
	err := c.do(ctx, req, func(r io.Reader) error {
		var reply struct {
			SubmissionID string `json:"submission_id"`
		}
		if err := json.NewDecoder(io.LimitReader(r, maxAnswer)).Decode(&reply); err != nil {
			return fmt.Errorf("%w: %w", errNotRay, err)
		}
		if reply.SubmissionID != body.SubmissionID {
			return errNotRay
		}
		return nil
	})
	if says(err, "use a different submission_id") {
		return job.Unknown(err) // the status differs between versions
	}
	return err
}

// ours checks that the job under the attempt's name belongs to the attempt.
func (c *Client) ours(d owned, a rayjob.Attempt) error {
	if a.Owns(d.Metadata[rayjob.LabelRun], d.Metadata[rayjob.LabelAttempt], d.Entrypoint) {
		return nil
	}
	return job.Permanent(errors.New("Ray at " + c.address + " already has another job named " + a.Name() +
		": ask the administrator of the extractor to check whether two services use this cluster"))
}
