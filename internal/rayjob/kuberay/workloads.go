package kuberay

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// workloads are those of Kueue in the namespace, listed once for all jobs that wait: each one's place depends on the others.
// There are none where Kueue is not there or may not be looked at.
type workloads []unstructured.Unstructured

// workloadsAge is how old a list may be that a job's place is explained with.
const workloadsAge = 15 * time.Second

// kueue is its resource; every version of Kueue has one of these.
var kueue = []schema.GroupVersionResource{
	{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"},
	{Group: "kueue.x-k8s.io", Version: "v1beta1", Resource: "workloads"},
}

func (c *Client) listWorkloads(ctx context.Context, _ workloads) (workloads, error) {
	for _, resource := range kueue {
		if list, err := c.any.Resource(resource).Namespace(c.cfg.Namespace).List(ctx, metav1.ListOptions{}); err == nil {
			return list.Items, nil
		}
	}
	return nil, ctx.Err()
}
