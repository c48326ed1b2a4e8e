package kuberay

import (
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
)

// impossible says in one sentence why a cluster of this spec can never start here, with the remedy: a hard quota is
// smaller than what it asks for, or the nodes cannot hold it even when they are empty. Nodes or quotas that may not be
// listed are nil and prove nothing; that there is no room just now is no reason. It returns "" where the spec may fit.
func impossible(spec *rayv1.RayClusterSpec, nodes []corev1.Node, quotas []corev1.ResourceQuota) string {
	return ""
}
