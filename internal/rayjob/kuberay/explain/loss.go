package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// loss says what ended a pod or one of its containers, and when. A zero time is unknown.
type loss struct {
	Diagnosis
	at time.Time
}

const (
	evicted   = "Evicted"
	oomKilled = "OOMKilled"
)

// lossOf finds what ended the pod. A pod that is being deleted may show it too.
func lossOf(p *corev1.Pod) loss {
	for _, c := range containers(p) {
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil && t.Reason == oomKilled {
				return loss{outOfMemory(p, c), t.FinishedAt.Time}
			}
		}
	}
	if p.Status.Reason == evicted {
		return loss{eviction(p.Status.Message), disruptionTime(p)}
	}
	if c := condition(p, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		return loss{Diagnosis{Cause: "it was taken off its node" + reported(c.Reason, c.Message)}, c.LastTransitionTime.Time}
	}
	if c := condition(p, corev1.PodReady); unreachable(p) {
		return loss{Diagnosis{Cause: "its node stopped responding"}, c.LastTransitionTime.Time}
	}
	if p.Status.Phase == corev1.PodFailed && p.Status.Reason != "" {
		return loss{Diagnosis{"its node rejected it" + reported(p.Status.Reason, p.Status.Message), askAdministrator}, disruptionTime(p)}
	}
	return loss{}
}

// disruptionTime returns when the pod was marked for disruption.
func disruptionTime(p *corev1.Pod) time.Time {
	if c := condition(p, corev1.DisruptionTarget); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// unreachable reports a pod whose node is lost: the control plane marks the pod not ready, while the last status of the
// kubelet still says that its containers are ready.
func unreachable(p *corev1.Pod) bool {
	r, c := condition(p, corev1.PodReady), condition(p, corev1.ContainersReady)
	return r != nil && r.Status != corev1.ConditionTrue && c != nil && c.Status == corev1.ConditionTrue &&
		p.Status.Phase == corev1.PodRunning && len(p.Spec.ReadinessGates) == 0
}

// outOfMemory diagnoses a container that the kernel killed. Users can only change the memory use of workers, and of a script that
// shares the pod of the head.
func outOfMemory(p *corev1.Pod, c corev1.ContainerStatus) Diagnosis {
	what := "out of memory"
	if limit := limitOf(p, c.Name); !limit.IsZero() {
		what += " (its limit is " + size(limit) + ")"
	}
	if isHead(p) && p.Labels[KindLabel] != KindScript {
		return Diagnosis{what, askAdministrator + " to give heads more memory"}
	}
	return Diagnosis{what, moreMemory}
}

const moreMemory = "choose a profile with more memory, or a smaller batch_size"

// limitOf returns the memory limit of a container of the pod, or 0 if it has none.
func limitOf(p *corev1.Pod, container string) resource.Quantity {
	for _, c := range append(p.Spec.InitContainers, p.Spec.Containers...) {
		if c.Name == container {
			return *c.Resources.Limits.Memory()
		}
	}
	return resource.Quantity{}
}

// eviction words why a kubelet evicted a pod.
func eviction(message string) Diagnosis {
	if strings.Contains(message, "low on resource: memory") || strings.Contains(message, "MemoryPressure") {
		return Diagnosis{"its node ran out of memory", moreMemory}
	}
	return Diagnosis{"it was evicted from its node" + inParentheses(message), askAdministrator}
}

// recentLoss is how long a loss is reported while the job continues.
const recentLoss = 10 * time.Minute

// lostPods says what ended pods of the attempt: recent losses while the job runs, all losses once it is over.
func (s Snapshot) lostPods() string {
	over := s.Job.Status.JobDeploymentStatus != rayv1.JobDeploymentStatusRunning
	who, f := s.commonDiagnosis(s.sortedPods(), func(p *corev1.Pod) Diagnosis {
		if l := lossOf(p); s.duringAttempt(l.at) && (over || s.Now.Sub(l.at) < recentLoss || !ready(p) && l.at.IsZero()) {
			return l.Diagnosis
		}
		return Diagnosis{}
	})
	if f.Cause != "" {
		return fmt.Sprintf("%s %s lost: %s", who, who.verb("was", "were"), f)
	}
	return s.deletedPods()
}

// deletedPods explains pods that were lost and have been deleted. Only events still show them.
func (s Snapshot) deletedPods() string {
	for _, e := range s.recentEvents() {
		switch e.Reason {
		case evicted:
			return "a pod of the Ray cluster was lost: " + eviction(e.Message).String()
		case string(utils.DeletedHeadPod), string(utils.DeletedWorkerPod):
			if strings.Contains(e.Message, oomKilled) {
				return "a pod of the Ray cluster was lost: out of memory; " + moreMemory
			}
		}
	}
	return ""
}

// recentEvents returns the recent events of this attempt, the newest first.
func (s Snapshot) recentEvents() []corev1.Event {
	events := slices.DeleteFunc(slices.Clone(s.Events), func(e corev1.Event) bool {
		ours := strings.HasPrefix(e.InvolvedObject.Name, s.Job.Name+"-") // clusters and pods are named after their job
		return !ours || !s.duringAttempt(eventTime(&e)) || s.Now.Sub(eventTime(&e)) >= recentLoss
	})
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return eventTime(&b).Compare(eventTime(&a)) })
	return events
}
