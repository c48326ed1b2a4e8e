package explain

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The messages are those of the scheduler of Kubernetes 1.35, and of older ones where those said more.
func TestUnschedulable(t *testing.T) {
	t.Parallel()
	const toTheClaim = toAdministrator + " to check the PersistentVolumeClaim if this lasts"
	const preemption = " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
	for name, tc := range map[string]struct {
		message string
		pod     change
		want    string
	}{
		"CPUs": {message: "0/3 nodes are available: 3 Insufficient cpu." + preemption, want: "no node has 2 CPUs free"},
		"memory": {
			message: "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient memory." + preemption,
			want:    "no node has 4 GiB of memory free",
		},
		"CPUs and memory": {
			message: "0/3 nodes are available: 1 Insufficient memory, 3 Insufficient cpu." + preemption,
			want:    "no node has 2 CPUs and 4 GiB of memory free",
		},
		"GPUs and CPUs": {
			message: "0/3 nodes are available: 1 Insufficient cpu, 3 Insufficient nvidia.com/gpu." + preemption,
			pod:     gpus("4"),
			want:    "no node has 4 GPUs and 2 CPUs free",
		},
		"a slice of a GPU": {
			message: "0/1 nodes are available: 1 Insufficient nvidia.com/mig-1g.5gb.",
			pod:     groups("nvidia.com/mig-1g.5gb", "1"),
			want:    "no node has 1 nvidia.com/mig-1g.5gb free",
		},
		"local disk": {
			message: "0/1 nodes are available: 1 Insufficient ephemeral-storage.",
			pod:     groups("ephemeral-storage", "1536Mi"),
			want:    "no node has 1.5 GiB of local disk free",
		},
		"half a CPU": {message: "0/1 nodes are available: 1 Insufficient cpu.", pod: groups("cpu", "500m"), want: "no node has 0.5 CPUs free"},
		"a taint": {
			message: "0/2 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 1 node(s) had untolerated taint {team: x}.",
			want:    "no node fits (1 node(s) had untolerated taint {nvidia.com/gpu: present}, 1 node(s) had untolerated taint {team: x…)" + toAdministrator,
		},
		"a label that no node has": {
			message: "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." + preemption,
			want:    "no node fits (2 node(s) didn't match Pod's node affinity/selector.)" + toAdministrator,
		},
		"no claim": {
			message: `0/1 nodes are available: persistentvolumeclaim "clowder-ray-shared" not found. not found`,
			want:    `the shared volume is not available (persistentvolumeclaim "clowder-ray-shared" not found. not found)` + toTheClaim,
		},
		"a claim unbound": {
			message: "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims." + preemption,
			want:    "the shared volume is not available (pod has unbound immediate PersistentVolumeClaims.)" + toTheClaim,
		},
		"few CPUs on the nodes that reach the volume": {
			message: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match PersistentVolume's node affinity.",
			want:    "no node has 2 CPUs free",
		},
		"no nodes at all": {message: "no nodes available to schedule pods", want: "no node fits (no nodes available to schedule pods)" + toAdministrator},
		"something new": {
			message: "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints." + preemption,
			want:    "no node fits (3 node(s) didn't match pod topology spread constraints.)" + toAdministrator,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := worker(1, unschedulableFor(tc.message))
			if tc.pod != nil {
				tc.pod(p)
			}
			require.Equal(t, "waiting for the worker: "+tc.want, newSnapshot(1, head(up), p).Waiting())
		})
	}
}

func TestNotYetScheduled(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		corev1.PodReasonSchedulingGated: "it cannot be scheduled (SchedulingGated: boom)" + toAdministrator + " if this lasts",
		corev1.PodReasonSchedulerError:  "it cannot be scheduled (SchedulerError: boom)" + toAdministrator + " if this lasts",
	} {
		p := head(has(corev1.PodScheduled, corev1.ConditionFalse, reason, "boom"))
		require.Equal(t, "waiting for the head: "+want, newSnapshot(0, p).Waiting())
	}
}

func groups(name corev1.ResourceName, quantity string) change {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests[name] = resource.MustParse(quantity) }
}

func TestAClusterThatGrows(t *testing.T) {
	t.Parallel()
	p := worker(1, gpus("1"), unschedulableFor(noGPU))
	s := newSnapshot(1, head(up), p)
	const full = "waiting for the worker: no node has 1 GPU free"
	for name, tc := range map[string]struct {
		reason, message string
		ago             time.Duration
		want            string
	}{
		"a node is started": {"TriggeredScaleUp", "pod triggered scale-up: [{gpu-pool 0->1 (max: 2)}]", time.Minute, full + "; a new node is being started"},
		"by Karpenter":      {"Nominated", "Pod should schedule on: nodeclaim/gpu-x", time.Minute, full + "; a new node is being started"},
		"none can be started": {
			"NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", time.Minute,
			full + "; the cluster adds no node (1 max node group size reached)",
		},
		"long ago": {"NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", time.Hour, full},
	} {
		s.Events = []corev1.Event{event(p.Name, tc.reason, tc.message, tc.ago)}
		require.Equal(t, tc.want, s.Waiting(), name)
	}
}
