package explain

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLosses(t *testing.T) {
	t.Parallel()
	failed := func(reason, message string) change {
		return func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, reason, message
		}
	}
	disrupted := func(reason, message string) change {
		return has(corev1.DisruptionTarget, corev1.ConditionTrue, reason, message)
	}
	for name, tc := range map[string]struct {
		pod  change
		want string
	}{
		"killed for want of memory, not yet restarted": {
			ran(func(c *corev1.ContainerStatus) {
				c.State.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(noon)}
			}),
			"out of memory (its limit is 4 GiB); choose a profile with more memory, or a smaller batch_size",
		},
		"a machine short of memory": {
			failed("Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container ray was using 5Gi, "+
				"request is 4Gi, has larger consumption of memory. "),
			"its node ran out of memory; choose a profile with more memory, or a smaller batch_size",
		},
		"a machine short of disk": {
			failed("Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 900Mi. Container ray was using "+
				"8Gi, request is 0, has larger consumption of ephemeral-storage. "),
			"the disk of its node is full" + toAdministrator + " to free disk space",
		},
		"a machine short of disk, with the time": {
			func(p *corev1.Pod) {
				failed("Evicted", "The node was low on resource: inodes. ")(p)
				disrupted("TerminationByKubelet", "")(p)
			},
			"the disk of its node is full" + toAdministrator + " to free disk space",
		},
		"a machine that takes no more": {
			failed("Evicted", "The node had condition: [DiskPressure]. "),
			"the disk of its node is full" + toAdministrator + " to free disk space",
		},
		"a machine without processes": {failed("Evicted", "The node was low on resource: pids. "), "its node runs too many processes" + toAdministrator},
		"full scratch space": {
			failed("Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "20Gi". `),
			"its scratch space of 20Gi is full; use less data, " + orAdministrator + " to raise scratch",
		},
		"full shared memory": {
			failed("Evicted", `Usage of EmptyDir volume "memory" exceeds the limit "2Gi". `),
			"its shared memory of 2Gi is full; choose a smaller batch_size, " + orAdministrator + " to raise sharedMemory",
		},
		"too much written": {
			failed("Evicted", `Container ray exceeded its local ephemeral storage limit "1Gi". `),
			"it exceeded its limit of local disk space; use less data, " + orAdministrator + " to raise the limit",
		},
		"another eviction": {failed("Evicted", "for fun"), "it was evicted from its node (for fun)" + toAdministrator},
		"a GPU that is broken": {
			failed("UnexpectedAdmissionError", "Allocate failed due to no healthy devices present"),
			"its node rejected it (UnexpectedAdmissionError: Allocate failed due to no healthy devices present)" + toAdministrator,
		},
		"a higher priority": {disrupted("PreemptionByScheduler", "x"), "it was preempted by a workload with a higher priority"},
		"a machine that is lost": {
			disrupted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"),
			"its node failed or was taken out of service",
		},
		"a machine that is emptied": {disrupted("EvictionByEvictionAPI", "Eviction API: evicting"), "its node is being drained for maintenance"},
		"a machine that goes off": {
			disrupted("TerminationByKubelet", "Pod was terminated in response to imminent node shutdown."),
			"its node shut down or evicted it (Pod was terminated in response to imminent node shutdown.)",
		},
		"something new": {disrupted("New", "x"), "it was evicted from its node (New: x)"},
		"a machine that is silent": {
			func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodRunning
				has(corev1.PodReady, corev1.ConditionFalse, "", "")(p)
				has(corev1.ContainersReady, corev1.ConditionTrue, "", "")(p)
			},
			"its node stopped responding",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSnapshot(1, head(up), worker(1, tc.pod))
			require.Equal(t, "waiting for the worker: "+tc.want, s.Waiting())
			s.Job.Status.JobDeploymentStatus = "Failed"
			require.Equal(t, "the worker was lost: "+tc.want, s.Trouble())
		})
	}
}

func TestLossWithoutALimit(t *testing.T) {
	t.Parallel()
	require.Equal(t, "out of memory; "+moreMemory, outOfMemory(worker(1), corev1.ContainerStatus{Name: "gone"}).String())
	p := worker(1, up, ended(time.Minute, corev1.ContainerStateTerminated{Reason: "OOMKilled"}))
	p.Spec.Containers[0].Resources.Limits = nil
	require.Equal(t, "out of memory; "+moreMemory, lossOf(p).String())
}
