package kuberay

import (
	"fmt"
	"slices"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
)

const (
	// prompt is how long KubeRay may take for a first look at a job; it needs seconds.
	prompt = time.Minute
	// slow is how long Ray may take to answer in a container that runs; it needs half a minute on busy machines.
	slow = 3 * time.Minute
)

// unnoticed tells of a job that KubeRay has not taken up, or that somebody has suspended.
func (s scene) unnoticed() string {
	switch s.job.Status.JobDeploymentStatus {
	case rayv1.JobDeploymentStatusNew, rayv1.JobDeploymentStatusSuspending, rayv1.JobDeploymentStatusSuspended:
	default:
		return ""
	}
	if s.job.Spec.Suspend {
		if name := s.job.Labels[queueLabel]; name != "" {
			return fmt.Sprintf("waiting in the queue %q", name)
		}
		return "the job is suspended; " + askOperator + " to resume it"
	}
	if waited := s.now.Sub(s.job.CreationTimestamp.Time); waited >= prompt && s.job.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusNew {
		return fmt.Sprintf("KubeRay has not looked at the job for %s; %s whether it runs", coarse(waited), askOperator)
	}
	return "waiting for KubeRay to take up the job"
}

// clusterless tells of a job that has no Ray cluster.
func (s scene) clusterless() string {
	switch {
	case s.standing():
		return s.elsewhere()
	case s.cluster == nil:
		return "waiting for KubeRay to set up the Ray cluster"
	default:
		return ""
	}
}

// standing reports a job that was sent to a cluster that is not its own.
func (s scene) standing() bool { return standingCluster(s.job) != "" }

// elsewhere tells of a standing cluster, whose pods may not be seen.
func (s scene) elsewhere() string {
	name := detail(standingCluster(s.job))
	switch {
	case s.cluster == nil && s.latest(s.job.Name, string(utils.RayClusterNotFound)) != nil, s.cluster != nil && s.cluster.DeletionTimestamp != nil:
		return fmt.Sprintf("the standing Ray cluster %q is not there; choose another profile, or %s to start it", name, askOperator)
	case s.cluster != nil && s.cluster.Spec.Suspend != nil && *s.cluster.Spec.Suspend:
		return fmt.Sprintf("the standing Ray cluster %q is suspended; choose another profile, or %s to resume it", name, askOperator)
	case len(s.pods) == 0:
		return fmt.Sprintf("waiting for the standing Ray cluster %q to start the training program", name)
	default:
		return ""
	}
}

// starting tells how far a cluster is whose pods start without trouble.
func (s scene) starting() string {
	wanted := 1 + s.workers()
	up := len(s.active()) - len(s.unready())
	if up >= wanted {
		return "the Ray cluster is ready and starts the training program"
	}
	text := "starting 1 head and " + plural(s.workers(), "worker")
	if pull := s.pulling(); pull > 0 {
		text += ": pulling the image"
		if pull >= time.Minute {
			text += ", " + coarse(pull) + " so far"
		}
	}
	switch up {
	case 0:
		return text
	case 1:
		return fmt.Sprintf("%s; 1 of %d is ready", text, wanted)
	default:
		return fmt.Sprintf("%s; %d of %d are ready", text, up, wanted)
	}
}

// pulling is how long the image has been pulled for the pod that has waited longest for it; 0 where none waits.
func (s scene) pulling() time.Duration {
	longest := time.Duration(0)
	for _, p := range s.unready() {
		if e := s.latest(p.Name, "Pulling", "Pulled", "Failed", "BackOff", "Created", "Started"); e != nil && e.Reason == "Pulling" {
			longest = max(longest, s.now.Sub(moment(e)), 1)
		}
	}
	return longest
}

// silent tells of a pod that runs while its Ray does not answer.
func (s scene) silent(p *corev1.Pod) fault {
	long := func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil && s.now.Sub(c.State.Running.StartedAt.Time) >= slow
	}
	switch {
	case slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return !c.Ready && long(c) }):
		return fault{"Ray was started there and does not answer", askOperator + " to look at the log of the pod " + detail(p.Name)}
	case s.headReady() && slices.ContainsFunc(p.Status.InitContainerStatuses, long):
		// The one init container is KubeRay's, which waits until it reaches the head.
		return fault{"it cannot reach the head over the network", askOperator + " whether network policies let the pods of Ray talk to each other"}
	default:
		return fault{}
	}
}

func (s scene) headReady() bool {
	return slices.ContainsFunc(s.active(), func(p *corev1.Pod) bool { return isHead(p) && ready(p) })
}

// returning tells of pods that are started once more while the job runs.
func (s scene) returning() string {
	works := s.job.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusRunning && s.cluster != nil && s.cluster.DeletionTimestamp == nil
	if !works || len(s.pods) == 0 {
		return ""
	}
	who := party{head: !s.headReady(), workers: s.workers(), of: s.workers()}
	for _, p := range s.active() {
		if ready(p) && !isHead(p) {
			who.workers = max(0, who.workers-1)
		}
	}
	if !who.head && who.workers == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s starting again; the training goes on from its last checkpoint", who, who.is("is", "are"))
}

// coarse words how long something has lasted, in steps that grow: every change of a notice is a new line for its reader.
func coarse(d time.Duration) string {
	minutes := int(d / time.Minute)
	for _, step := range []int{24 * 60, 12 * 60, 6 * 60, 4 * 60, 3 * 60, 2 * 60, 60, 45, 30, 20, 15, 10, 5, 3, 2} {
		if minutes < step {
			continue
		}
		if step >= 60 {
			return plural(step/60, "hour")
		}
		return plural(step, "minute")
	}
	return plural(1, "minute")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
