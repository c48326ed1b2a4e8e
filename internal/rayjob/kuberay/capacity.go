package kuberay

import (
	"context"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// capacity holds the nodes and the quotas of the namespace. What the service may not list is nil.
type capacity struct {
	nodes  []corev1.Node
	quotas []corev1.ResourceQuota
}

// capacityAge is the maximum age of the capacity by which a submission is judged. It finds what can never start, which changes
// rarely.
const capacityAge = 10 * time.Second

// readCapacity lists the nodes and quotas.
func (c *Client) readCapacity(ctx context.Context, _ capacity) (capacity, error) {
	var seen capacity
	if list, err := c.core.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err == nil {
		seen.nodes = list.Items
	}
	if list, err := c.core.CoreV1().ResourceQuotas(c.cfg.Namespace).List(ctx, metav1.ListOptions{}); err == nil {
		seen.quotas = list.Items
	}
	return seen, ctx.Err()
}

// impossible says why the cluster can never start; "" if it may.
func (c *Client) impossible(ctx context.Context, spec *rayv1.RayClusterSpec) string {
	seen, err := c.capacity.Get(ctx)
	if err != nil {
		return "" // the caller was cancelled
	}
	return explain.Impossible(spec, seen.nodes, seen.quotas)
}
