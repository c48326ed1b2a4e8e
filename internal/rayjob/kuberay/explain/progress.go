package explain

import (
	"fmt"
	"slices"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// acceptLimit is how long KubeRay may take to accept a job. It usually takes seconds.
	acceptLimit = time.Minute
	// readyLimit is how long Ray may take to answer in a running container. It takes half a minute on busy nodes.
	readyLimit = 3 * time.Minute
)

// notTakenUp explains a job that KubeRay has not accepted, or that a person or Kueue has suspended.
func (s Snapshot) notTakenUp() string {
	switch s.Job.Status.JobDeploymentStatus {
	case rayv1.JobDeploymentStatusNew, rayv1.JobDeploymentStatusSuspending, rayv1.JobDeploymentStatusSuspended:
	default:
		return ""
	}
	if s.Job.Spec.Suspend {
		if name := s.Job.Labels[QueueLabel]; name != "" {
			return fmt.Sprintf("waiting in the queue %q", name)
		}
		return "the job is suspended; " + askAdministrator + " to resume it"
	}
	if waited := s.Now.Sub(s.Job.CreationTimestamp.Time); waited >= acceptLimit && s.Job.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusNew {
		return fmt.Sprintf("KubeRay has not accepted the job for %s; %s to check that KubeRay is running", roughDuration(waited), askAdministrator)
	}
	return "waiting for KubeRay to accept the job"
}

// withoutCluster explains a job that has no Ray cluster yet.
func (s Snapshot) withoutCluster() string {
	switch {
	case s.onStandingCluster():
		return s.standingState()
	case s.Cluster == nil:
		return "waiting for KubeRay to create the Ray cluster"
	default:
		return ""
	}
}

// onStandingCluster reports a job that was sent to a standing cluster.
func (s Snapshot) onStandingCluster() bool { return StandingCluster(s.Job) != "" }

// standingState explains a standing cluster. Its pods may not be visible.
func (s Snapshot) standingState() string {
	name := detail(StandingCluster(s.Job))
	switch {
	case s.Cluster == nil && s.latestEvent(s.Job.Name, string(utils.RayClusterNotFound)) != nil, s.Cluster != nil && s.Cluster.DeletionTimestamp != nil:
		return fmt.Sprintf("the standing Ray cluster %q does not exist; choose another profile, or %s to start it", name, askAdministrator)
	case s.Cluster != nil && s.Cluster.Spec.Suspend != nil && *s.Cluster.Spec.Suspend:
		return fmt.Sprintf("the standing Ray cluster %q is suspended; choose another profile, or %s to resume it", name, askAdministrator)
	case len(s.Pods) == 0:
		return fmt.Sprintf("waiting for the standing Ray cluster %q to start the training program", name)
	default:
		return ""
	}
}

// startProgress says how many pods of the cluster are ready.
func (s Snapshot) startProgress() string {
	wanted := 1 + s.workers()
	up := len(s.activePods()) - len(s.unreadyPods())
	if up >= wanted {
		return "the Ray cluster is ready and is starting the training program"
	}
	line := "starting 1 head and " + text.Count(s.workers(), "worker")
	switch {
	case s.workers() > 0:
	case scaled(&s.Cluster.Spec):
		line = "starting the head; workers follow when the run asks for them"
	default:
		line = "starting the pod"
	}
	if pull := s.pullTime(); pull > 0 {
		line += ": pulling the image"
		if pull >= time.Minute {
			line += ", " + roughDuration(pull) + " so far"
		}
	}
	switch up {
	case 0:
		return line
	case 1:
		return fmt.Sprintf("%s; 1 of %d is ready", line, wanted)
	default:
		return fmt.Sprintf("%s; %d of %d are ready", line, up, wanted)
	}
}

// pullTime returns the longest time for which an image has been pulled for a pod; 0 if none is being pulled.
func (s Snapshot) pullTime() time.Duration {
	longest := time.Duration(0)
	for _, p := range s.unreadyPods() {
		if e := s.latestEvent(p.Name, "Pulling", "Pulled", "Failed", "BackOff", "Created", "Started"); e != nil && e.Reason == "Pulling" {
			longest = max(longest, s.Now.Sub(eventTime(e)), 1)
		}
	}
	return longest
}

// unresponsive explains a pod that runs while its Ray does not answer.
func (s Snapshot) unresponsive(p *corev1.Pod) Diagnosis {
	long := func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil && s.Now.Sub(c.State.Running.StartedAt.Time) >= readyLimit
	}
	switch {
	case slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return !c.Ready && long(c) }):
		return Diagnosis{"Ray has started but does not respond", askAdministrator + " to check the log of the pod " + detail(p.Name)}
	case s.headReady() && slices.ContainsFunc(p.Status.InitContainerStatuses, long):
		// The only init container is KubeRay's. It waits until it reaches the head.
		return Diagnosis{"it cannot reach the head over the network", askAdministrator + " to allow traffic between Ray pods in the network policies"}
	default:
		return Diagnosis{}
	}
}

func (s Snapshot) headReady() bool {
	return slices.ContainsFunc(s.activePods(), func(p *corev1.Pod) bool { return isHead(p) && ready(p) })
}

// restartingPods names the pods that are restarting while the job runs, and the workers that an autoscaler starts for it.
func (s Snapshot) restartingPods() string {
	running := s.Job.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusRunning && s.Cluster != nil && s.Cluster.DeletionTimestamp == nil
	if !running || len(s.Pods) == 0 {
		return ""
	}
	who := podSummary{head: !s.headReady(), workers: s.workers(), total: s.workers()}
	for _, p := range s.activePods() {
		if ready(p) && !isHead(p) {
			who.workers = max(0, who.workers-1)
		}
	}
	if !who.head && who.workers == 0 {
		return ""
	}
	if !who.head && scaled(&s.Cluster.Spec) {
		return fmt.Sprintf("Ray's autoscaler is starting %s", who)
	}
	return fmt.Sprintf("%s %s restarting; the training will resume from its last checkpoint", who, who.verb("is", "are"))
}

// roughDuration words a duration in growing steps, since every change of a notice is a new status for the user.
func roughDuration(d time.Duration) string {
	minutes := int(d / time.Minute)
	for _, step := range []int{24 * 60, 12 * 60, 6 * 60, 4 * 60, 3 * 60, 2 * 60, 60, 45, 30, 20, 15, 10, 5, 3, 2} {
		if minutes < step {
			continue
		}
		if step >= 60 {
			return text.Count(step/60, "hour")
		}
		return text.Count(step, "minute")
	}
	return text.Count(1, "minute")
}
