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
			func(p *corev1.Pod) {
				failed("Evicted", "The node was low on resource: ephemeral-storage. ")(p)
				disrupted("TerminationByKubelet", "")(p)
			},
			"it was evicted from its node (The node was low on resource: ephemeral-storage.)" + toAdministrator,
		},
		"full scratch space": {
			failed("Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "20Gi". `),
			`it was evicted from its node (Usage of EmptyDir volume "scratch" exceeds the limit "20Gi".)` + toAdministrator,
		},
		"a GPU that is broken": {
			failed("UnexpectedAdmissionError", "Allocate failed due to no healthy devices present"),
			"its node rejected it (UnexpectedAdmissionError: Allocate failed due to no healthy devices present)" + toAdministrator,
		},
		"a higher priority": {disrupted("PreemptionByScheduler", "x"), "it was taken off its node (PreemptionByScheduler: x)"},
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
