package explain

import (
	"testing"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// list reads pairs of names and quantities.
func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// newSpec is a cluster of a head with 1 CPU and 4 GiB, and n workers.
func newSpec(n int32, worker corev1.ResourceList) *rayv1.RayClusterSpec {
	template := func(size corev1.ResourceList) corev1.PodTemplateSpec {
		box := corev1.Container{Name: "ray", Resources: corev1.ResourceRequirements{Requests: size, Limits: size}}
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{box}}}
	}
	return &rayv1.RayClusterSpec{
		HeadGroupSpec:    rayv1.HeadGroupSpec{Template: template(list("cpu", "1", "memory", "4Gi"))},
		WorkerGroupSpecs: []rayv1.WorkerGroupSpec{{Replicas: &n, MinReplicas: &n, MaxReplicas: &n, Template: template(worker)}},
	}
}

func node(allocatable corev1.ResourceList, taints ...corev1.Taint) corev1.Node {
	return corev1.Node{Spec: corev1.NodeSpec{Taints: taints}, Status: corev1.NodeStatus{Allocatable: allocatable}}
}

func tainted(key string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Effect: effect}
}

func TestNodesThatAreTooSmall(t *testing.T) {
	t.Parallel()
	small := node(list("cpu", "4", "memory", "16Gi", "pods", "110"))
	gpu := node(list("cpu", "16", "memory", "64Gi", "pods", "110", "nvidia.com/gpu", "2"), tainted("nvidia.com/gpu", corev1.TaintEffectNoSchedule))
	tolerant := func(s *rayv1.RayClusterSpec) {
		s.WorkerGroupSpecs[0].Template.Spec.Tolerations = []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}}
	}
	const larger = "; choose a smaller profile, " + orAdministrator + " for larger nodes"
	for name, tc := range map[string]struct {
		nodes   []corev1.Node
		workers int32
		size    corev1.ResourceList
		set     func(*rayv1.RayClusterSpec)
		want    string
	}{
		"nodes that may not be listed": {workers: 1, size: list("cpu", "64")},
		"room":                         {nodes: []corev1.Node{small}, workers: 2, size: list("cpu", "2", "memory", "4Gi")},
		"room on several nodes":        {nodes: []corev1.Node{small, small}, workers: 2, size: list("cpu", "4")},
		"no workers":                   {nodes: []corev1.Node{small}, workers: 0, size: list("cpu", "64")},
		"no node is large enough": {
			nodes: []corev1.Node{small, gpu}, workers: 1, size: list("cpu", "8", "memory", "8Gi"),
			want: "each worker requests 8 CPUs and 8 GiB of memory, but no node has that much (at most 4 CPUs)" + larger,
		},
		"no node is large enough in both": {
			nodes: []corev1.Node{small, node(list("cpu", "2", "memory", "64Gi"))}, workers: 1, size: list("cpu", "4", "memory", "32Gi"),
			want: "each worker requests 4 CPUs and 32 GiB of memory, but no node has that much at once" + larger,
		},
		"no node is large enough for the head": {
			nodes: []corev1.Node{node(list("cpu", "4", "memory", "2Gi"))}, workers: 1, size: list("cpu", "1"),
			want: "the head requests 1 CPU and 4 GiB of memory, but no node has that much (at most 2 GiB of memory)" + larger,
		},
		"a GPU where none is": {
			nodes: []corev1.Node{small}, workers: 1, size: list("cpu", "2", "nvidia.com/gpu", "1"),
			want: "each worker requests 1 GPU and 2 CPUs, but no node has that much (at most 0 GPUs)" + larger,
		},
		"more GPUs than there are": {
			nodes: []corev1.Node{small, gpu}, workers: 4, size: list("nvidia.com/gpu", "1"), set: tolerant,
			want: "4 workers request 1 GPU each, but the nodes can hold at most 2 of them even when empty; choose at most 2 workers",
		},
		"GPUs for all": {nodes: []corev1.Node{small, gpu}, workers: 2, size: list("nvidia.com/gpu", "1"), set: tolerant},
		"a limit is a request too": {nodes: []corev1.Node{small}, workers: 1, size: list("cpu", "8"), set: func(s *rayv1.RayClusterSpec) {
			s.WorkerGroupSpecs[0].Template.Spec.Containers[0].Resources.Requests = nil
		}, want: "each worker requests 8 CPUs, but no node has that much (at most 4 CPUs)" + larger},
		"nodes in trouble, closed or cut off": {
			nodes:   []corev1.Node{node(list("cpu", "4", "memory", "16Gi"), tainted("node.kubernetes.io/unschedulable", corev1.TaintEffectNoSchedule))},
			workers: 1,
			size:    list("cpu", "2"),
		},
		"nodes that are preferred by others": {
			nodes:   []corev1.Node{node(list("cpu", "4", "memory", "16Gi"), tainted("team", corev1.TaintEffectPreferNoSchedule))},
			workers: 1,
			size:    list("cpu", "2"),
		},
		"a pod of few": {
			nodes:   []corev1.Node{node(list("cpu", "4", "memory", "16Gi", "pods", "1"))},
			workers: 2,
			size:    list("cpu", "1"),
			want:    "2 workers request 1 CPU each, but the nodes can hold at most 1 of them even when empty; choose at most 1 worker",
		},
		"a label that no node has": {
			nodes: []corev1.Node{small}, workers: 1, size: list("cpu", "1"),
			set: func(s *rayv1.RayClusterSpec) {
				s.WorkerGroupSpecs[0].Template.Spec.NodeSelector = map[string]string{"pool": "gpu"}
			},
			want: "no node with the label pool=gpu accepts the training; choose another profile, " + orAdministrator + " to correct this one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newSpec(tc.workers, tc.size)
			if tc.set != nil {
				tc.set(spec)
			}
			before := spec.DeepCopy()
			require.Equal(t, tc.want, Impossible(spec, tc.nodes, nil))
			require.Equal(t, before, spec, "the spec is not changed")
		})
	}
}

func TestQuotasThatAreTooSmall(t *testing.T) {
	t.Parallel()
	quota := func(hard corev1.ResourceList, scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuota {
		return corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: hard, Scopes: scopes}}
	}
	const remedy = "; choose fewer workers or a smaller profile, " + orAdministrator + " for a larger quota"
	size := list("cpu", "4", "memory", "8Gi", "nvidia.com/gpu", "1")
	for name, tc := range map[string]struct {
		quota corev1.ResourceQuota
		want  string
	}{
		"room":          {quota: quota(list("requests.cpu", "9", "limits.memory", "20Gi", "pods", "3", "requests.nvidia.com/gpu", "2"))},
		"CPUs":          {quota(list("requests.cpu", "8")), `the training requests 9 CPUs in total, but the quota "team" allows 8 CPUs` + remedy},
		"CPUs, shorter": {quota(list("cpu", "8")), `the training requests 9 CPUs in total, but the quota "team" allows 8 CPUs` + remedy},
		"memory": {
			quota(list("limits.memory", "16Gi")),
			`the training requests 20 GiB of memory in total, but the quota "team" allows 16 GiB of memory` + remedy,
		},
		"GPUs": {
			quota(list("requests.nvidia.com/gpu", "1")),
			`the training requests 2 GPUs in total, but the quota "team" allows 1 GPU` + remedy,
		},
		"no GPUs": {
			quota(list("requests.nvidia.com/gpu", "0")),
			`the training requests 2 GPUs in total, but the quota "team" allows 0 GPUs` + remedy,
		},
		"pods":    {quota(list("pods", "2")), `the training requests 3 pods in total, but the quota "team" allows 2 pods` + remedy},
		"objects": {quota(list("count/pods", "2")), `the training requests 3 pods in total, but the quota "team" allows 2 pods` + remedy},
		"of lasting pods": {
			quota(list("pods", "2"), corev1.ResourceQuotaScopeNotTerminating),
			`the training requests 3 pods in total, but the quota "team" allows 2 pods` + remedy,
		},
		"of other pods":    {quota: quota(list("pods", "2"), corev1.ResourceQuotaScopeBestEffort)},
		"of other things":  {quota: quota(list("services", "0", "persistentvolumeclaims", "0"))},
		"of some priority": {quota: corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: list("pods", "2"), ScopeSelector: &corev1.ScopeSelector{}}}},
		"the first by name": {
			quota(list("requests.cpu", "1", "pods", "1", "limits.memory", "1Gi")),
			`the training requests 20 GiB of memory in total, but the quota "team" allows 1 GiB of memory` + remedy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, Impossible(newSpec(2, size), nil, []corev1.ResourceQuota{tc.quota}))
		})
	}
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		group rayv1.WorkerGroupSpec
		want  int
	}{
		"as asked":         {rayv1.WorkerGroupSpec{Replicas: ptr.To[int32](3)}, 3},
		"hosts":            {rayv1.WorkerGroupSpec{Replicas: ptr.To[int32](3), NumOfHosts: 2}, 6},
		"at least":         {rayv1.WorkerGroupSpec{Replicas: ptr.To[int32](1), MinReplicas: ptr.To[int32](2)}, 2},
		"the most is none": {rayv1.WorkerGroupSpec{Replicas: ptr.To[int32](1), MaxReplicas: ptr.To[int32](9)}, 1},
		"suspended":        {rayv1.WorkerGroupSpec{Replicas: ptr.To[int32](1), Suspend: new(true)}, 0},
		"below zero":       {rayv1.WorkerGroupSpec{Replicas: ptr.To[int32](-1), MinReplicas: ptr.To[int32](-5)}, 0},
	} {
		require.Equal(t, tc.want, replicas(tc.group), name)
	}
}
