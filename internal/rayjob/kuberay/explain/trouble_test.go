package explain

import (
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTrouble(t *testing.T) {
	t.Parallel()
	oom := func(ago time.Duration) change {
		return ended(ago, corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 1})
	}
	for name, tc := range map[string]struct {
		pods []*corev1.Pod
		set  func(*Snapshot)
		want string
	}{
		"nothing": {pods: []*corev1.Pod{head(up), worker(1, up), worker(2, up)}},
		"a worker out of memory and back": {
			pods: []*corev1.Pod{head(up), worker(1, up, oom(time.Minute)), worker(2, up)},
			want: "1 of 2 workers was lost: out of memory (its limit is 4 GiB); choose a profile with more memory, or a smaller batch_size",
		},
		"both workers out of memory": {
			pods: []*corev1.Pod{head(up), worker(1, up, oom(time.Minute)), worker(2, up, oom(time.Second))},
			want: "all 2 workers were lost: out of memory (its limit is 4 GiB); choose a profile with more memory, or a smaller batch_size",
		},
		"long ago, while it runs on": {pods: []*corev1.Pod{head(up), worker(1, up, oom(time.Hour)), worker(2, up)}, set: func(s *Snapshot) {
			s.Job.Status.StartTime = new(before(2 * time.Hour))
		}},
		"long ago, and now it has failed": {
			pods: []*corev1.Pod{head(up, oom(time.Hour)), worker(1, up), worker(2, up)},
			set: func(s *Snapshot) {
				s.Job.Status.StartTime, s.Job.Status.JobDeploymentStatus = new(before(2*time.Hour)), rayv1.JobDeploymentStatusFailed
			},
			want: "the head was lost: out of memory (its limit is 4 GiB)" + toAdministrator + " to give heads more memory",
		},
		"before the job came to a standing cluster": {pods: []*corev1.Pod{head(up), worker(1, up, oom(11*time.Minute)), worker(2, up)}},
		"a pod that goes tells why": {
			pods: []*corev1.Pod{
				head(up), worker(1, deleted, has(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", "")), worker(2, up), worker(3),
			},
			want: "1 of 2 workers was lost: it was taken off its node (EvictionByEvictionAPI)",
		},
		"a worker that finds no machine": {
			pods: []*corev1.Pod{head(up), worker(1, up), worker(2, gpus("1"), unschedulableFor(noGPU))},
			want: "1 of 2 workers is missing: no node has 1 GPU free",
		},
		"workers that find none": {
			pods: []*corev1.Pod{head(up), worker(1, gpus("1"), unschedulableFor(noGPU)), worker(2, gpus("1"), unschedulableFor(noGPU))},
			want: "all 2 workers are missing: no node has 1 GPU free",
		},
		"a worker that is not made again": {
			pods: []*corev1.Pod{head(up), worker(1, up)},
			set: func(s *Snapshot) {
				s.Cluster.Status.Conditions = []metav1.Condition{{
					Type: string(rayv1.RayClusterReplicaFailure), Status: metav1.ConditionTrue, Reason: "FailedCreateWorkerPod",
					Message: "FailedCreateWorkerPod\npods \"ft-abc-a1-x2x4z-worker-worker-b\" is forbidden: exceeded quota: team, requested: pods=1, used: " +
						"pods=9, limited: pods=9",
				}}
			},
			want: `the quota "team" has no room for 1 pod (9 of 9 are in use); wait until other work ends, ` + orAdministrator + ` for a larger quota`,
		},
		"a worker on its way back": {
			pods: []*corev1.Pod{head(up), worker(1, up), worker(2, waits("ContainerCreating", ""))},
			want: "1 of 2 workers is restarting; the training will resume from its last checkpoint",
		},
		"the head on its way back": {
			pods: []*corev1.Pod{head(waits("ContainerCreating", "")), worker(1, up), worker(2, up)},
			want: "the head is restarting; the training will resume from its last checkpoint",
		},
		"workers that an autoscaler starts": {
			pods: []*corev1.Pod{head(up), worker(1, up), worker(2, waits("ContainerCreating", ""))},
			set:  func(s *Snapshot) { s.Cluster.Spec.EnableInTreeAutoscaling = new(true) },
			want: "Ray's autoscaler is starting 1 of 2 workers",
		},
		"all on their way back": {
			pods: []*corev1.Pod{head(up, deleted)},
			want: "the head and all 2 workers are restarting; the training will resume from its last checkpoint",
		},
		"a cluster that goes": {
			pods: []*corev1.Pod{head(up, deleted), worker(1, up, deleted)},
			set:  func(s *Snapshot) { s.Cluster.DeletionTimestamp = new(before(time.Second)) },
		},
		"pods that are not seen": {},
		"an eviction that only an event remembers": {
			pods: []*corev1.Pod{head(up), worker(1, up), worker(2, waits("ContainerCreating", ""))},
			set: func(s *Snapshot) {
				s.Events = []corev1.Event{event("ft-abc-a1-x2x4z-worker-worker-00009", "Evicted", "The node was low on resource: ephemeral-storage. "+
					"Threshold quantity: 1Gi, available: 900Mi. ", time.Minute)}
			},
			want: "a pod of the Ray cluster was lost: it was evicted from its node (The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 900Mi.)" + toAdministrator,
		},
		"a want of memory that only an event remembers": {
			pods: []*corev1.Pod{head(up), worker(1, up), worker(2, up)},
			set: func(s *Snapshot) {
				s.Events = []corev1.Event{
					event(s.Cluster.Name, "DeletedWorkerPod", "Deleted worker Pod research/ft-abc-a1-x2x4z-worker-worker-00009; Pod status: Running; Pod "+
						"restart policy: Never; "+
						"Ray container terminated status: &ContainerStateTerminated{ExitCode:137,Signal:0,Reason:OOMKilled,Message:,}", time.Minute),
					event(s.Cluster.Name, "DeletedWorkerPod", "Deleted worker Pod research/x", time.Second),
				}
			},
			want: "a pod of the Ray cluster was lost: out of memory; choose a profile with more memory, or a smaller batch_size",
		},
		"the eviction of somebody else": {
			pods: []*corev1.Pod{head(up), worker(1, up), worker(2, up)},
			set: func(s *Snapshot) {
				s.Events = []corev1.Event{event("ft-abc-a10-x2x4z-worker-worker-00009", "Evicted", "The node was low on resource: memory. ", time.Minute)}
			},
		},
		"an old event": {
			pods: []*corev1.Pod{head(up), worker(1, up), worker(2, up)},
			set: func(s *Snapshot) {
				s.Events = []corev1.Event{event("ft-abc-a1-x2x4z-worker-worker-00009", "Evicted", "The node was low on resource: memory. ", 10*time.Minute)}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSnapshot(2, tc.pods...)
			s.Job.Status.JobDeploymentStatus = rayv1.JobDeploymentStatusRunning
			if tc.set != nil {
				tc.set(&s)
			}
			require.Equal(t, tc.want, s.Trouble())
		})
	}
}
