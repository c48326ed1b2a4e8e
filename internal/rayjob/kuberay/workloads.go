package kuberay

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// workloads are Kueue's Workloads in the namespace. They are listed once for all waiting jobs, since the position of a job
// depends on the others. The list is empty if Kueue is not installed or may not be read.
type workloads []unstructured.Unstructured

// workloadsAge is the maximum age of the list that explains a job's position.
const workloadsAge = 15 * time.Second

// kueue lists the API versions of the resource; every version of Kueue serves one of them.
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
