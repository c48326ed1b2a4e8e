package kuberay

import (
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
)

// impossible says in one sentence why a cluster of this spec can never start here, with the remedy: a quota is smaller than
// what it asks for, or the nodes cannot hold it even when they are empty. Nodes or quotas that may not be listed are nil and
// prove nothing; that there is no room just now is no reason. It returns "" where the spec may fit. Machines that the
// cluster could still start by itself are not seen: where it does so, give no nodes.
func impossible(spec *rayv1.RayClusterSpec, nodes []corev1.Node, quotas []corev1.ResourceQuota) string {
	asks := asksOf(spec)
	return first(func() string { return overQuotas(asks, quotas) }, func() string { return overNodes(asks, nodes) })
}

// ask is a number of equal pods.
type ask struct {
	pod   *corev1.Pod
	count int
	head  bool
}

func asksOf(spec *rayv1.RayClusterSpec) []ask {
	asks := []ask{{pod: podOf(spec.HeadGroupSpec.Template), count: 1, head: true}}
	for _, g := range spec.WorkerGroupSpecs {
		asks = append(asks, ask{pod: podOf(g.Template), count: replicas(g)})
	}
	return asks
}

// podOf is the pod that will be made of a template. Where it sets a limit only, the API server makes it the request too.
func podOf(template corev1.PodTemplateSpec) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: *template.Spec.DeepCopy()}
	for i := range p.Spec.Containers {
		r := &p.Spec.Containers[i].Resources
		for name, limit := range r.Limits {
			if _, set := r.Requests[name]; set {
				continue
			}
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = limit
		}
	}
	return p
}
