package explain

import (
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// words are what the fields of random objects hold: the parts of messages that mean something, and some that do not.
var words = []string{
	"", "x", "ray", "\x1b[31m\u2028", "ft-abc-a1", "ft-abc-a1-x2x4z", "head", "worker", utils.RayNodeTypeLabelKey, QueueLabel,
	"ImagePullBackOff", "ErrImagePull", "CrashLoopBackOff", "CreateContainerConfigError", "ContainerCreating", "Evicted", "OOMKilled", "DiskPressure",
	"Unschedulable", "SchedulingGated", "Insufficient cpu, 1 Insufficient nvidia.com/gpu.", "0/1 nodes are available: 1 Too many pods. preemption: x",
	`persistentvolumeclaim "`, "untolerated taint {", "affinity/selector", "FailedMount", "FailedCreatePodSandBox", "Pulling", "Failed", "no runtime for",
	`EmptyDir volume "memory" exceeds the limit "2Gi"`, "low on resource: memory", "FailedToCreateHeadPod", "FailedCreateWorkerPod", "CreatedWorkerPod",
	"exceeded quota: q, requested: cpu=1,x, used: cpu=, limited: cpu=1", "exceeded quota: q, requested: pods=2, used: pods=1, limited: pods=1",
	`admission webhook "w" denied the request: `, "is forbidden: ", "QuotaReserved", "Preempted", "insufficient unused quota for cpu in flavor f, x more needed",
}

// TestRandomSnapshots holds the promises of an explanation for states of a cluster that nobody has thought of.
func TestRandomSnapshots(t *testing.T) {
	t.Parallel()
	random := randfill.NewWithSeed(1).NilChance(.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(s *string, c randfill.Continue) { *s = words[c.Intn(len(words))] },
		func(at *metav1.Time, c randfill.Continue) { *at = before(time.Duration(c.Intn(3600)) * time.Second) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63()-c.Int63(), resource.DecimalSI)
		},
		oneOf(corev1.PodScheduled, corev1.PodReady, corev1.ContainersReady, corev1.DisruptionTarget),
		oneOf(corev1.ConditionTrue, corev1.ConditionFalse), oneOf(metav1.ConditionTrue, metav1.ConditionFalse),
		oneOf(corev1.PodPending, corev1.PodPending, corev1.PodRunning, corev1.PodFailed),
		func(n *int32, c randfill.Continue) { *n = c.Int31n(5) }, func(b *bool, c randfill.Continue) { *b = c.Intn(5) == 0 },
		oneOf(rayv1.JobDeploymentStatusNew, rayv1.JobDeploymentStatusInitializing, rayv1.JobDeploymentStatusRunning, rayv1.JobDeploymentStatusSuspended),
	)
	said := map[string]bool{}
	for range 1000 {
		s := newSnapshot(2)
		random.Fill(&s.Job.Status.JobDeploymentStatus)
		var pods []corev1.Pod
		random.Fill(&pods)
		for i := range pods {
			s.Pods = append(s.Pods, &pods[i])
		}
		random.Fill(&s.Events)
		random.Fill(&s.Cluster.Status.Conditions)
		if random.Fill(&s.Job.Spec.Suspend); s.Job.Spec.Suspend {
			s.Queue = &Workload{}
			random.Fill(&s.Queue.workloadObject)
		}
		var nodes []corev1.Node
		random.Fill(&nodes)
		var quotas []corev1.ResourceQuota
		random.Fill(&quotas)
		random.Fill(&s.Cluster.Spec.WorkerGroupSpecs)
		waiting, trouble := s.Waiting(), s.Trouble()
		requireLine(t, waiting, trouble, Impossible(&s.Cluster.Spec, nodes, quotas))
		require.NotEmpty(t, waiting)
		said[waiting], said[trouble] = true, true
	}
	require.Greater(t, len(said), 100, "the snapshots differ")
}

func oneOf[T any](values ...T) func(*T, randfill.Continue) {
	return func(v *T, c randfill.Continue) { *v = values[c.Intn(len(values))] }
}
