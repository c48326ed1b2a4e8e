package kuberay

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// loss is what ended a pod or a container of it, and when; the zero time is not known.
type loss struct {
	fault
	at time.Time
}

const (
	evicted   = "Evicted"
	oomKilled = "OOMKilled"
)

// lossOf finds what ended the pod. A pod that is being deleted may tell it as well as one that stays.
func lossOf(p *corev1.Pod) loss {
	for _, c := range containers(p) {
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil && t.Reason == oomKilled {
				return loss{outOfMemory(p, c), t.FinishedAt.Time}
			}
		}
	}
	if p.Status.Reason == evicted {
		return loss{eviction(p.Status.Message), disrupted(p)}
	}
	if c := condition(p, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		return loss{disruption(c), c.LastTransitionTime.Time}
	}
	if c := condition(p, corev1.PodReady); unreachable(p) {
		return loss{fault{what: "its machine does not answer any more"}, c.LastTransitionTime.Time}
	}
	if p.Status.Phase == corev1.PodFailed && p.Status.Reason != "" {
		return loss{fault{"its machine refused it" + bracket(p.Status.Reason+": "+p.Status.Message), askOperator}, disrupted(p)}
	}
	return loss{}
}

// disrupted is when the pod was told to go.
func disrupted(p *corev1.Pod) time.Time {
	if c := condition(p, corev1.DisruptionTarget); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// unreachable reports a pod whose machine is lost. Then the control plane calls it not ready while the last word of the
// kubelet stays that its containers are.
func unreachable(p *corev1.Pod) bool {
	r, c := condition(p, corev1.PodReady), condition(p, corev1.ContainersReady)
	return r != nil && r.Status != corev1.ConditionTrue && c != nil && c.Status == corev1.ConditionTrue &&
		p.Status.Phase == corev1.PodRunning && len(p.Spec.ReadinessGates) == 0
}

// outOfMemory is a container that the kernel has killed. What trains is in the workers, so only there a user can help.
func outOfMemory(p *corev1.Pod, c corev1.ContainerStatus) fault {
	what := "out of memory"
	if limit := limitOf(p, c.Name); !limit.IsZero() {
		what += " (its limit is " + size(limit) + ")"
	}
	if isHead(p) {
		return fault{what, askOperator + " to give heads more memory"}
	}
	return fault{what, moreMemory}
}

const moreMemory = "choose a profile with more memory, or a smaller batch_size"

// limitOf is how much memory a container of the pod may use; 0 where there is no limit.
func limitOf(p *corev1.Pod, container string) resource.Quantity {
	for _, c := range append(p.Spec.InitContainers, p.Spec.Containers...) {
		if c.Name == container {
			return *c.Resources.Limits.Memory()
		}
	}
	return resource.Quantity{}
}

// emptyDir is the kubelet's word for a volume of the pod that has grown over its limit.
var emptyDir = regexp.MustCompile(`EmptyDir volume "([^"]+)" exceeds the limit "([^"]+)"`)

// eviction words why a kubelet has put a pod out.
func eviction(message string) fault {
	has := func(text string) bool { return strings.Contains(message, text) }
	if m := emptyDir.FindStringSubmatch(message); m != nil && m[1] == "memory" { // the name that newPod gives it
		return fault{"its shared memory of " + detail(m[2]) + " is full", "choose a smaller batch_size, or " + askOperator + " to raise sharedMemory"}
	} else if m != nil {
		return fault{"its scratch space of " + detail(m[2]) + " is full", "use less data, or " + askOperator + " to raise scratch"}
	}
	switch {
	case has("local ephemeral storage"):
		return fault{"it wrote more to the local disk than it may", "use less data, or " + askOperator + " to allow more"}
	case has("low on resource: memory"), has("MemoryPressure"):
		return fault{"its machine ran out of memory", moreMemory}
	case has("ephemeral-storage"), has("nodefs"), has("imagefs"), has("inodes"), has("DiskPressure"):
		return fault{"the disk of its machine is full", askOperator + " to make room"}
	case has("pids"), has("PIDPressure"):
		return fault{"its machine runs too many processes", askOperator}
	default:
		return fault{"it had to leave its machine" + bracket(message), askOperator}
	}
}

// disruption words why the control plane, or the kubelet for another reason than want, ends a pod.
func disruption(c *corev1.PodCondition) fault {
	switch c.Reason {
	case corev1.PodReasonPreemptionByScheduler:
		return fault{what: "it made room for work of a higher priority"}
	case "DeletionByTaintManager", "DeletionByPodGC":
		return fault{what: "its machine was lost or closed"}
	case "EvictionByEvictionAPI":
		return fault{what: "its machine is emptied for maintenance"}
	case corev1.PodReasonTerminationByKubelet:
		return fault{what: "its machine was shut down or had to make room" + bracket(c.Message)}
	default:
		return fault{what: "it had to leave its machine" + bracket(c.Reason+": "+c.Message)}
	}
}

// lately is how long a loss is worth telling while a job runs on.
const lately = 10 * time.Minute

// hit tells what ended pods of the attempt: all that is known once it is over, else what is new.
func (s scene) hit() string {
	over := s.job.Status.JobDeploymentStatus != rayv1.JobDeploymentStatusRunning
	who, f := s.shared(s.inOrder(), func(p *corev1.Pod) fault {
		if l := lossOf(p); s.since(l.at) && (over || s.now.Sub(l.at) < lately || !ready(p) && l.at.IsZero()) {
			return l.fault
		}
		return fault{}
	})
	if f.what != "" {
		return fmt.Sprintf("%s %s lost: %s", who, who.is("was", "were"), f)
	}
	return s.vanished()
}

// vanished tells of pods that ended and are deleted since; only events remember them.
func (s scene) vanished() string {
	for _, e := range s.news() {
		switch e.Reason {
		case evicted:
			return "a part of the Ray cluster was lost: " + eviction(e.Message).String()
		case string(utils.DeletedHeadPod), string(utils.DeletedWorkerPod):
			if strings.Contains(e.Message, oomKilled) {
				return "a part of the Ray cluster was lost: out of memory; " + moreMemory
			}
		}
	}
	return ""
}

// news are the events of this attempt that are worth telling while it runs, the newest first.
func (s scene) news() []corev1.Event {
	news := slices.DeleteFunc(slices.Clone(s.events), func(e corev1.Event) bool {
		ours := strings.HasPrefix(e.InvolvedObject.Name, s.job.Name+"-") // clusters and pods are named after their job
		return !ours || !s.since(moment(&e)) || s.now.Sub(moment(&e)) >= lately
	})
	slices.SortStableFunc(news, func(a, b corev1.Event) int { return moment(&b).Compare(moment(&a)) })
	return news
}
