package kuberay

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

const (
	// patience is how long a training may take to end before its cluster is taken away: what Ray itself gives it, and what
	// passing the wish on may take.
	patience = (rayjob.StopGrace + 15) * time.Second
	// stopPause is between two looks at a training that is to end.
	stopPause  = time.Second
	stuckAfter = 5 * time.Minute
)

// Stop implements rayjob.Backend. A training that runs is asked by Ray to end and has time to save itself; one that has no
// cluster yet goes with its RayJob.
func (c *Client) Stop(ctx context.Context, h rayjob.Handle) error {
	rj, err := c.live(ctx, h.ID)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if over(rj) {
		return nil
	}
	if !started(rj) {
		if err := c.remove(ctx, rj); err != nil {
			return err
		}
		return job.Later(stopPause, errors.New("waiting for the RayJob to be deleted"))
	}
	ray, err := c.dashboard(ctx, rj)
	if err != nil {
		return err
	}
	if err := ray.Stop(ctx, h); err != nil {
		return err
	}
	// Ray has ended the job, which KubeRay has not seen yet.
	return job.Later(stopPause, errors.New("waiting for KubeRay to see that the training has stopped"))
}

// Release implements rayjob.Backend. A training that still runs is asked to end first, within bounds: a cluster that does
// not answer goes all the same. The RayJob goes before anything that KubeRay needs for its end, and takes the cluster and
// the token with it. A handle that holds only the name of the attempt will do.
func (c *Client) Release(ctx context.Context, h rayjob.Handle) error {
	rj, err := c.live(ctx, h.ID)
	switch {
	case missing(err):
		c.forget(h.ID)
		return c.removeRest(ctx, h)
	case err != nil:
		return err
	case !over(rj) && started(rj) && rj.DeletionTimestamp == nil && c.mayStillStop(h.ID):
		if err := c.end(ctx, rj, h); err != nil {
			return err
		}
	}
	if err := c.remove(ctx, rj); err != nil {
		return err
	}
	h.Cluster = explain.StandingCluster(rj)
	switch {
	case h.Cluster == "": // Kubernetes deletes the token after the RayJob, for whose end KubeRay may need it
		c.forget(h.ID)
		return nil
	case over(rj):
		c.forget(h.ID)
		return c.removeEntry(ctx, h)
	default: // KubeRay would begin anew a job that Ray does not know: the RayJob must be gone first
		return job.Later(stopPause, errors.New("waiting for the RayJob to be deleted"))
	}
}

// end asks Ray to end the job. Only that it is still ending is an error: whatever else hinders is overcome by the deletion.
func (c *Client) end(ctx context.Context, rj *rayv1.RayJob, h rayjob.Handle) error {
	ray, err := c.dashboard(ctx, rj)
	if err == nil {
		err = ray.Stop(ctx, h)
	}
	if kind, _ := job.Classify(err); err == nil || kind == job.KindLater {
		return err
	}
	c.log.Warn("a training could not be asked to end, its RayJob is deleted", zap.String("rayjob", rj.Name), zap.Error(err))
	return nil
}

// mayStillStop says whether an attempt that is asked to end has time left.
func (c *Client) mayStillStop(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, ok := c.stopping[id]
	if !ok {
		c.stopping[id] = time.Now()
		return true
	}
	return time.Since(since) < patience
}

// forget drops what is remembered of an attempt.
func (c *Client) forget(id string) {
	c.mu.Lock()
	delete(c.stopping, id)
	c.mu.Unlock()
	c.notices.forget(id)
}

// removeRest deletes what an attempt that has no RayJob may have left: the entry on a standing cluster, or the token of its
// own. A handle without a session tells nothing of where it was, so that all standing clusters are looked at.
func (c *Client) removeRest(ctx context.Context, h rayjob.Handle) error {
	if h.Cluster != "" {
		return c.removeEntry(ctx, h)
	}
	faults := c.removeToken(ctx, h.ID)
	if h.Session != "" {
		return faults
	}
	for _, p := range c.cfg.Profiles {
		if p.Cluster != "" {
			faults = errors.Join(faults, c.removeEntry(ctx, rayjob.Handle{ID: h.ID, Cluster: p.Cluster}))
		}
	}
	return faults
}

// removeToken deletes the token of an attempt that has no RayJob. It has no owner where the service was killed before there
// was one.
func (c *Client) removeToken(ctx context.Context, name string) error {
	err := c.core.CoreV1().Secrets(c.cfg.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.fault(err, "delete a Secret")
}

// removeEntry deletes what the Ray of a standing cluster remembers of the attempt, and ends it where it still runs.
func (c *Client) removeEntry(ctx context.Context, h rayjob.Handle) error {
	ray, err := c.standingDashboard(ctx, h.Cluster)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return ray.Release(ctx, h)
}

// remove deletes the RayJob; its cluster and its token follow.
func (c *Client) remove(ctx context.Context, rj *rayv1.RayJob) error {
	err := c.ray.RayV1().RayJobs(c.cfg.Namespace).Delete(ctx, rj.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &rj.UID}, PropagationPolicy: new(metav1.DeletePropagationBackground),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return c.fault(err, "delete a RayJob")
}

// over says that KubeRay is done with the job.
func over(rj *rayv1.RayJob) bool {
	obs, _ := judge(rj.Status)
	return obs.Verdict.Terminal()
}

// started says that Ray may have the job.
func started(rj *rayv1.RayJob) bool {
	return rj.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusRunning && rj.Status.DashboardURL != ""
}

// freeStuck takes the operator's finalizer from RayJobs that it has not let go of for long, because it is not there. All
// that hangs on them is then deleted by Kubernetes itself.
func (c *Client) freeStuck(ctx context.Context) {
	all, err := c.jobs.List(labels.Everything())
	if err != nil {
		return // an index of memory: there is no such error
	}
	for _, rj := range all {
		if rj.DeletionTimestamp == nil || time.Since(rj.DeletionTimestamp.Time) < c.stuckAfter {
			continue
		}
		if err := c.free(ctx, rj); err != nil && !missing(err) {
			c.log.Warn("a RayJob that its operator does not let go of could not be freed", zap.String("rayjob", rj.Name), zap.Error(err))
		}
	}
}

// free removes the operator's finalizer.
func (c *Client) free(ctx context.Context, rj *rayv1.RayJob) error {
	i := slices.Index(rj.Finalizers, utils.RayJobStopJobFinalizer)
	if i < 0 {
		return nil
	}
	// The version makes sure that the list is the one that was looked at.
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": rj.ResourceVersion, "finalizers": slices.Delete(slices.Clone(rj.Finalizers), i, i+1),
	}})
	if err != nil {
		return err
	}
	_, err = c.ray.RayV1().RayJobs(c.cfg.Namespace).Patch(ctx, rj.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		return c.fault(err, "change a RayJob")
	}
	c.log.Warn("freed a RayJob that its operator did not let go of: is the KubeRay operator running?", zap.String("rayjob", rj.Name))
	return nil
}
