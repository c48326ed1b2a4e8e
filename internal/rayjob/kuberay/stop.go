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
	// stopTimeout is how long a training may take to end before its cluster is deleted: Ray's own grace period and the time to
	// deliver the request.
	stopTimeout = (rayjob.StopGrace + 15) * time.Second
	// stopPause is the time between two checks of a training that is stopping.
	stopPause  = time.Second
	stuckAfter = 5 * time.Minute
)

// Stop implements rayjob.Backend. Ray asks a running training to stop, which has time to save a checkpoint. A training without
// a cluster ends when its RayJob is deleted.
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
	// Ray has ended the job, but KubeRay has not noticed it yet.
	return job.Later(stopPause, errors.New("waiting for KubeRay to notice that the training has stopped"))
}

// Release implements rayjob.Backend. It first asks a running training to stop, for a limited time: a cluster that does not
// respond is deleted anyway. The RayJob is deleted before anything that KubeRay needs to end it; the cluster and the token are
// deleted with it. A handle with only the name of the attempt is enough.
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
	case h.Cluster == "": // Kubernetes deletes the token after the RayJob, since KubeRay may need it to end the job
		c.forget(h.ID)
		return nil
	case over(rj):
		c.forget(h.ID)
		return c.removeEntry(ctx, h)
	default: // KubeRay would restart a job that Ray does not know, so the RayJob must be deleted first
		return job.Later(stopPause, errors.New("waiting for the RayJob to be deleted"))
	}
}

// end asks Ray to end the job. It returns an error only while the job is ending; the deletion solves any other problem.
func (c *Client) end(ctx context.Context, rj *rayv1.RayJob, h rayjob.Handle) error {
	ray, err := c.dashboard(ctx, rj)
	if err == nil {
		err = ray.Stop(ctx, h)
	}
	if kind, _ := job.Classify(err); err == nil || kind == job.KindLater {
		return err
	}
	c.log.Warn("a training could not be stopped, its RayJob is deleted", zap.String("rayjob", rj.Name), zap.Error(err))
	return nil
}

// mayStillStop reports whether an attempt that was asked to stop has time left.
func (c *Client) mayStillStop(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, ok := c.stopping[id]
	if !ok {
		c.stopping[id] = time.Now()
		return true
	}
	return time.Since(since) < stopTimeout
}

// forget drops the state of an attempt.
func (c *Client) forget(id string) {
	c.mu.Lock()
	delete(c.stopping, id)
	c.mu.Unlock()
	c.notices.forget(id)
}

// removeRest deletes what an attempt without a RayJob may have left: the entry on a standing cluster, or the token of its own
// cluster. A handle without a session does not say where the attempt ran, so all standing clusters are checked.
func (c *Client) removeRest(ctx context.Context, h rayjob.Handle) error {
	if h.Cluster != "" {
		return c.removeEntry(ctx, h)
	}
	errs := errors.Join(c.removeToken(ctx, h.ID), c.removePolicy(ctx, h.ID))
	if h.Session != "" {
		return errs
	}
	for _, p := range c.cfg.Profiles {
		if p.Cluster != "" {
			errs = errors.Join(errs, c.removeEntry(ctx, rayjob.Handle{ID: h.ID, Cluster: p.Cluster}))
		}
	}
	return errs
}

// removeToken deletes the token of an attempt without a RayJob. The token has no owner if the service was killed before it
// created the RayJob.
func (c *Client) removeToken(ctx context.Context, name string) error {
	err := c.core.CoreV1().Secrets(c.cfg.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.fault(err, "delete a Secret")
}

// removeEntry deletes the entry of the attempt on a standing cluster, and ends the attempt if it still runs.
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

// remove deletes the RayJob. Kubernetes then deletes its cluster and its token.
func (c *Client) remove(ctx context.Context, rj *rayv1.RayJob) error {
	err := c.ray.RayV1().RayJobs(c.cfg.Namespace).Delete(ctx, rj.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &rj.UID}, PropagationPolicy: new(metav1.DeletePropagationBackground),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return c.fault(err, "delete a RayJob")
}

// over reports that KubeRay has finished the job.
func over(rj *rayv1.RayJob) bool {
	obs, _ := judge(rj.Status)
	return obs.Verdict.Terminal()
}

// started reports that Ray may know the job.
func started(rj *rayv1.RayJob) bool {
	return rj.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusRunning && rj.Status.DashboardURL != ""
}

// freeStuck removes the finalizer of the KubeRay operator from RayJobs that it has not deleted in time, because it is down.
// Kubernetes then deletes everything that they own.
func (c *Client) freeStuck(ctx context.Context) {
	all, err := c.jobs.List(labels.Everything())
	if err != nil {
		return // the cache is in memory and never fails
	}
	for _, rj := range all {
		if rj.DeletionTimestamp == nil || time.Since(rj.DeletionTimestamp.Time) < c.stuckAfter {
			continue
		}
		if err := c.free(ctx, rj); err != nil && !missing(err) {
			c.log.Warn("cannot remove the finalizer of a RayJob that is stuck in deletion", zap.String("rayjob", rj.Name), zap.Error(err))
		}
	}
}

// free removes the finalizer of the KubeRay operator.
func (c *Client) free(ctx context.Context, rj *rayv1.RayJob) error {
	i := slices.Index(rj.Finalizers, utils.RayJobStopJobFinalizer)
	if i < 0 {
		return nil
	}
	// The resource version ensures that the list has not changed.
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
	c.log.Warn("removed the finalizer of a RayJob that was stuck in deletion: check that the KubeRay operator is running", zap.String("rayjob", rj.Name))
	return nil
}
