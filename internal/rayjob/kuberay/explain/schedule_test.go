package explain

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The messages are those of the scheduler of Kubernetes 1.35, and of older ones where those said more.
func TestUnschedulable(t *testing.T) {
	t.Parallel()
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
		"something unasked": {message: "0/1 nodes are available: 1 Insufficient hugepages-2Mi.", want: "no node has enough hugepages-2Mi free"},
		"half a CPU":        {message: "0/1 nodes are available: 1 Insufficient cpu.", pod: groups("cpu", "500m"), want: "no node has 0.5 CPUs free"},
		"places for pods":   {message: "0/1 nodes are available: 1 Too many pods." + preemption, want: "every node has reached its pod limit"},
		"volumes of a node": {message: "0/1 nodes are available: 1 node(s) exceed max volume count.", want: "every node has reached its volume limit"},
		"a taint": {
			message: "0/2 nodes are available: 2 node(s) had untolerated taint(s)." + preemption,
			want:    "every node is reserved for other work" + toAdministrator + " to add a toleration to the profile",
		},
		"a taint by name": {
			message: "0/2 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 1 node(s) had untolerated taint {team: x}.",
			want:    "every node is reserved for other work (nvidia.com/gpu and team)" + toAdministrator + " to add a toleration to the profile",
		},
		"nodes in trouble": {
			message: "0/2 nodes are available: 2 node(s) had untolerated taint {node.kubernetes.io/unreachable: }.",
			want:    "its nodes are under maintenance or unreachable" + toAdministrator + " if this lasts",
		},
		"closed nodes": {
			message: "0/2 nodes are available: 2 node(s) were unschedulable." + preemption,
			want:    "its nodes are under maintenance or unreachable" + toAdministrator + " if this lasts",
		},
		"a selector": {
			message: "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." + preemption,
			pod:     selects,
			want:    "the cluster has no node with the label pool=gpu and zone=a" + toAdministrator + " to correct the node selector of the profile",
		},
		"an affinity": {
			message: "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
			want:    "the cluster has no node that matches the profile" + toAdministrator + " to correct the node selector of the profile",
		},
		"selector and taint": {
			message: "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s).",
			pod:     selects,
			want: "no node with the label pool=gpu and zone=a accepts it" + toAdministrator + " to correct the node selector or the tolerations of the " +
				"profile",
		},
		"no claim": {
			message: `0/1 nodes are available: persistentvolumeclaim "clowder-ray-shared" not found. not found`,
			want:    `the shared volume "clowder-ray-shared" does not exist` + toAdministrator + ` to repair the shared volume`,
		},
		"a claim that goes": {
			message: `0/1 nodes are available: persistentvolumeclaim "shared" is being deleted.`,
			want:    `the shared volume "shared" cannot be used (is being deleted)` + toAdministrator + ` to repair the shared volume`,
		},
		"a claim unbound": {
			message: "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims." + preemption,
			want:    "the shared volume has no storage yet" + toAdministrator + " to check the PersistentVolumeClaim if this lasts",
		},
		"no volume to bind": {
			message: "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
			want:    "the shared volume has no storage yet" + toAdministrator + " to check the PersistentVolumeClaim if this lasts",
		},
		"a volume elsewhere": {
			message: "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match PersistentVolume's node affinity.",
			want:    "the free nodes cannot reach the shared volume" + toAdministrator + " for a volume that all nodes can reach",
		},
		"another zone": {
			message: "0/3 nodes are available: 3 node(s) had volume node affinity conflict.",
			want:    "the free nodes cannot reach the shared volume" + toAdministrator + " for a volume that all nodes can reach",
		},
		"a volume of one": {
			message: "0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use " +
				"by another pod.",
			want: "another pod has exclusive use of the shared volume" + toAdministrator + " to make the volume ReadWriteMany",
		},
		"no nodes at all": {message: "no nodes available to schedule pods", want: "the cluster has no nodes" + toAdministrator},
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
		corev1.PodReasonSchedulingGated: "a scheduling gate of the cluster holds it back",
		corev1.PodReasonSchedulerError:  "the scheduler of the cluster reports an error (boom)" + toAdministrator,
	} {
		p := head(has(corev1.PodScheduled, corev1.ConditionFalse, reason, "boom"))
		require.Equal(t, "waiting for the head: "+want, newSnapshot(0, p).Waiting())
	}
}

func groups(name corev1.ResourceName, quantity string) change {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests[name] = resource.MustParse(quantity) }
}

func selects(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "a", "pool": "gpu"} }
