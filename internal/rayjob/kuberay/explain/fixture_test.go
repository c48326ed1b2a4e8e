package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// The remedies that most sentences end with.
const (
	toAdministrator = "; ask the administrator of the extractor"
	orAdministrator = "or ask the administrator of the extractor"
)

// noon is now in all snapshots; their job began ten minutes before.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// newSnapshot is a job that waits for its cluster of a head and n workers, as KubeRay has it after a few seconds.
func newSnapshot(n int, pods ...*corev1.Pod) Snapshot {
	start := before(10 * time.Minute)
	job := &rayv1.RayJob{
		ObjectMeta: metav1.ObjectMeta{Name: "ft-abc-a1", CreationTimestamp: start},
		Status:     rayv1.RayJobStatus{JobDeploymentStatus: rayv1.JobDeploymentStatusInitializing, StartTime: &start},
	}
	cluster := &rayv1.RayCluster{ObjectMeta: metav1.ObjectMeta{Name: "ft-abc-a1-x2x4z"}}
	cluster.Spec.WorkerGroupSpecs = []rayv1.WorkerGroupSpec{{GroupName: "worker", Replicas: new(int32(n)), NumOfHosts: 1}}
	return Snapshot{Job: job, Cluster: cluster, Pods: pods, Now: noon}
}

type change func(*corev1.Pod)

func newPod(role rayv1.RayNodeType, name string, changes []change) *corev1.Pod {
	size := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi")}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{utils.RayNodeTypeLabelKey: string(role)}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "ray", Image: "clowder-ray/ray:0.1.0", Resources: corev1.ResourceRequirements{Requests: size.DeepCopy(), Limits: size},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, c := range changes {
		c(p)
	}
	return p
}

func head(changes ...change) *corev1.Pod {
	return newPod(rayv1.HeadNode, "ft-abc-a1-x2x4z-head-7f9tq", changes)
}

func worker(i int, changes ...change) *corev1.Pod {
	return newPod(rayv1.WorkerNode, fmt.Sprintf("ft-abc-a1-x2x4z-worker-worker-%05d", i), changes)
}

func has(kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) change {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: before(time.Minute),
		})
	}
}

// up is a pod that works.
func up(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	has(corev1.PodReady, corev1.ConditionTrue, "", "")(p)
	ran(func(c *corev1.ContainerStatus) {
		c.Ready, c.State.Running = true, &corev1.ContainerStateRunning{StartedAt: before(5 * time.Minute)}
	})(p)
}

// ran sets the status of the Ray container.
func ran(set func(*corev1.ContainerStatus)) change {
	return func(p *corev1.Pod) {
		c := corev1.ContainerStatus{Name: "ray", Image: "clowder-ray/ray:0.1.0"}
		set(&c)
		p.Status.ContainerStatuses = []corev1.ContainerStatus{c}
	}
}

// waits is a Ray container that the kubelet does not start.
func waits(reason, message string) change {
	return ran(func(c *corev1.ContainerStatus) {
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	})
}

// initWaits is a pod whose init container is not started; then the others tell nothing.
func initWaits(reason, message string) change {
	return func(p *corev1.Pod) {
		waits("PodInitializing", "")(p)
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: "wait-gcs-ready", Image: "clowder-ray/ray:0.1.0",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}
	}
}

// ended is the last end of the Ray container, some time ago.
func ended(ago time.Duration, t corev1.ContainerStateTerminated) change {
	return func(p *corev1.Pod) {
		t.FinishedAt = before(ago)
		for i := range p.Status.ContainerStatuses {
			p.Status.ContainerStatuses[i].LastTerminationState.Terminated = &t
		}
	}
}

func unschedulableFor(message string) change {
	return has(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, message)
}

func gpus(n string) change {
	return func(p *corev1.Pod) {
		for _, list := range []corev1.ResourceList{p.Spec.Containers[0].Resources.Requests, p.Spec.Containers[0].Resources.Limits} {
			list["nvidia.com/gpu"] = resource.MustParse(n)
		}
	}
}

func deleted(p *corev1.Pod) { p.DeletionTimestamp = new(before(time.Second)) }

func event(object, reason, message string, ago time.Duration) corev1.Event {
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Name: object}, Reason: reason, Message: message, LastTimestamp: before(ago),
	}
}

// requireLine holds for all that is ever said.
func requireLine(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		require.LessOrEqual(t, utf8.RuneCountInString(line), rayjob.MaxReason)
		require.False(t, strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", line)
	}
}
