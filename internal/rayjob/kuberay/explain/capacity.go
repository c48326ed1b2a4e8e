package explain

import (
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
)

// Impossible says in one sentence why a cluster of this spec can never start here, with the remedy: a quota is smaller than
// the request, or the nodes cannot hold the pods even when empty. It returns "" if the spec may fit; a temporary shortage is
// no reason. Pass nil for nodes or quotas that could not be listed. Pass no nodes where the cluster can add nodes by itself.
func Impossible(spec *rayv1.RayClusterSpec, nodes []corev1.Node, quotas []corev1.ResourceQuota) string {
	groups := podGroupsOf(spec)
	return firstLine(func() string { return quotaShortfall(groups, quotas) }, func() string { return nodeShortfall(groups, nodes) })
}

// podGroup is a number of equal pods.
type podGroup struct {
	pod   *corev1.Pod
	count int
	head  bool
}

func podGroupsOf(spec *rayv1.RayClusterSpec) []podGroup {
	groups := []podGroup{{pod: podOf(spec.HeadGroupSpec.Template), count: 1, head: true}}
	for _, g := range spec.WorkerGroupSpecs {
		groups = append(groups, podGroup{pod: podOf(g.Template), count: most(spec, g)})
	}
	return groups
}

// podOf returns the pod that will be created from a template. Where only a limit is set, the API server uses it as the request.
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
