package kuberay

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// workloads are those of Kueue in the namespace, listed once for all jobs that wait: each one's place depends on the others.
type workloads struct {
	mu    sync.Mutex
	at    time.Time
	items []unstructured.Unstructured
}

// listedFor is how long a list is good enough to explain with.
const listedFor = 15 * time.Second

// kueue is its resource; every version of Kueue has one of these.
var kueue = []schema.GroupVersionResource{
	{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"},
	{Group: "kueue.x-k8s.io", Version: "v1beta1", Resource: "workloads"},
}

// list returns none where Kueue is not there or may not be looked at.
func (w *workloads) list(ctx context.Context, c *Client) []unstructured.Unstructured {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.at) < listedFor {
		return w.items
	}
	w.at, w.items = time.Now(), nil
	for _, resource := range kueue {
		if list, err := c.any.Resource(resource).Namespace(c.cfg.Namespace).List(ctx, metav1.ListOptions{}); err == nil {
			w.items = list.Items
			break
		}
	}
	return w.items
}
