package kuberay

import (
	"context"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// impossible looks at the quotas of the namespace and at the nodes, as far as the service may see them, and says why the
// cluster could never start there; "" where nothing speaks against it.
func (c *Client) impossible(ctx context.Context, spec *rayv1.RayClusterSpec) string {
	var nodes []corev1.Node
	if list, err := c.core.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err == nil {
		nodes = list.Items
	}
	var quotas []corev1.ResourceQuota
	if list, err := c.core.CoreV1().ResourceQuotas(c.cfg.Namespace).List(ctx, metav1.ListOptions{}); err == nil {
		quotas = list.Items
	}
	return impossible(spec, nodes, quotas)
}
