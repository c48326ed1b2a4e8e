package kuberay

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
			"its machine ran out of memory; choose a profile with more memory, or a smaller batch_size",
		},
		"a machine short of disk": {
			failed("Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 900Mi. Container ray was using "+
				"8Gi, request is 0, has larger consumption of ephemeral-storage. "),
			"the disk of its machine is full" + toOperator + " to make room",
		},
		"a machine short of disk, with the time": {
			func(p *corev1.Pod) {
				failed("Evicted", "The node was low on resource: inodes. ")(p)
				disrupted("TerminationByKubelet", "")(p)
			},
			"the disk of its machine is full" + toOperator + " to make room",
		},
		"a machine that takes no more": {
			failed("Evicted", "The node had condition: [DiskPressure]. "),
			"the disk of its machine is full" + toOperator + " to make room",
		},
		"a machine without processes": {failed("Evicted", "The node was low on resource: pids. "), "its machine runs too many processes" + toOperator},
		"full scratch space": {
			failed("Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "20Gi". `),
			"its scratch space of 20Gi is full; use less data, " + orOperator + " to raise scratch",
		},
		"full shared memory": {
			failed("Evicted", `Usage of EmptyDir volume "memory" exceeds the limit "2Gi". `),
			"its shared memory of 2Gi is full; choose a smaller batch_size, " + orOperator + " to raise sharedMemory",
		},
		"too much written": {
			failed("Evicted", `Container ray exceeded its local ephemeral storage limit "1Gi". `),
			"it wrote more to the local disk than it may; use less data, " + orOperator + " to allow more",
		},
		"another eviction": {failed("Evicted", "for fun"), "it had to leave its machine (for fun)" + toOperator},
		"a GPU that is broken": {
			failed("UnexpectedAdmissionError", "Allocate failed due to no healthy devices present"),
			"its machine refused it (UnexpectedAdmissionError: Allocate failed due to no healthy devices present)" + toOperator,
		},
		"a higher priority": {disrupted("PreemptionByScheduler", "x"), "it made room for work of a higher priority"},
		"a machine that is lost": {
			disrupted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"),
			"its machine was lost or closed",
		},
		"a machine that is emptied": {disrupted("EvictionByEvictionAPI", "Eviction API: evicting"), "its machine is emptied for maintenance"},
		"a machine that goes off": {
			disrupted("TerminationByKubelet", "Pod was terminated in response to imminent node shutdown."),
			"its machine was shut down or had to make room (Pod was terminated in response to imminent node shutdown.)",
		},
		"something new": {disrupted("New", "x"), "it had to leave its machine (New: x)"},
		"a machine that is silent": {
			func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodRunning
				has(corev1.PodReady, corev1.ConditionFalse, "", "")(p)
				has(corev1.ContainersReady, corev1.ConditionTrue, "", "")(p)
			},
			"its machine does not answer any more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(1, head(up), worker(1, tc.pod))
			require.Equal(t, "waiting for the worker: "+tc.want, s.waiting())
			s.job.Status.JobDeploymentStatus = "Failed"
			require.Equal(t, "the worker was lost: "+tc.want, s.trouble())
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
