package kuberay

import (
	"context"
	"sync"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// capacity is what the nodes and the quotas of the namespace have, as far as the service may see them.
type capacity struct {
	mu     sync.Mutex
	at     time.Time
	nodes  []corev1.Node
	quotas []corev1.ResourceQuota
}

// roomFor is how long a look is good enough: it finds what can never start, and that changes rarely.
const roomFor = 10 * time.Second

// look returns what is known, after a look at the cluster where that is due. What may not be seen is nil.
func (r *capacity) look(ctx context.Context, c *Client) ([]corev1.Node, []corev1.ResourceQuota) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) < roomFor {
		return r.nodes, r.quotas
	}
	r.at, r.nodes, r.quotas = time.Now(), nil, nil
	if list, err := c.core.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err == nil {
		r.nodes = list.Items
	}
	if list, err := c.core.CoreV1().ResourceQuotas(c.cfg.Namespace).List(ctx, metav1.ListOptions{}); err == nil {
		r.quotas = list.Items
	}
	return r.nodes, r.quotas
}

// impossible says why the cluster could never start; "" where nothing speaks against it.
func (c *Client) impossible(ctx context.Context, spec *rayv1.RayClusterSpec) string {
	nodes, quotas := c.capacity.look(ctx, c)
	return impossible(spec, nodes, quotas)
}
