package kuberay

import (
	"context"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// Observe implements rayjob.Backend.
func (c *Client) Observe(ctx context.Context, h rayjob.Handle, _ time.Duration) (rayjob.Observation, error) {
	rj, err := c.find(ctx, h.ID)
	switch {
	case missing(err):
		return rayjob.Observation{Verdict: rayjob.Lost, Reason: "the RayJob of the training was deleted in the Kubernetes cluster"}, nil
	case err != nil:
		return rayjob.Observation{}, err
	case h.Session != "" && h.Session != string(rj.UID):
		return rayjob.Observation{Verdict: rayjob.Lost, Reason: "the RayJob of the training was replaced by another RayJob of the same name"}, nil
	}
	obs := c.judge(rj)
	switch obs.Verdict {
	case rayjob.Pending:
		if text := c.notice(ctx, rj, firstNotice, explain.Snapshot.Waiting); text != "" {
			obs.Notice = text
		}
	case rayjob.Running:
		if text := c.notice(ctx, rj, firstTrouble, explain.Snapshot.Trouble); text != "" {
			obs.Notice = text
		}
	case rayjob.Failed:
		if text := c.snapshot(ctx, rj).Trouble(); text != "" && !obs.Final {
			obs.Reason = rayjob.OneLine(text+" ("+obs.Reason+")", rayjob.MaxReason)
		}
	case rayjob.Succeeded, rayjob.Stopped, rayjob.Lost:
	}
	return obs, nil
}

// find reads the cache. It asks the API server if the cache is not ready or lacks the RayJob, which may be younger.
func (c *Client) find(ctx context.Context, name string) (*rayv1.RayJob, error) {
	if c.synced.Load() {
		if rj, err := c.jobs.Get(name); err == nil {
			return rj, nil
		}
	}
	return c.live(ctx, name)
}

// judge is the function judge with one warning for each unknown status.
func (c *Client) judge(rj *rayv1.RayJob) rayjob.Observation {
	obs, known := judge(rj.Status)
	if known {
		return obs
	}
	status := rayjob.OneLine(string(rj.Status.JobDeploymentStatus)+"/"+string(rj.Status.JobStatus)+"/"+string(rj.Status.Reason), 80)
	if c.warned.First(status) {
		c.log.Warn("KubeRay reports an unknown status, the service keeps waiting", zap.String("status", status), zap.String("rayjob", rj.Name))
	}
	return obs
}
