package kuberay

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// List implements rayjob.Lister.
func (c *Client) List(ctx context.Context) ([]rayjob.Handle, error) {
	list, err := c.ray.RayV1().RayJobs(c.cfg.Namespace).List(ctx, metav1.ListOptions{LabelSelector: c.cfg.selector(c.cfg.Owner)})
	if err != nil {
		return nil, c.fault(err, "list RayJobs")
	}
	handles := make([]rayjob.Handle, 0, len(list.Items))
	for i := range list.Items {
		handles = append(handles, handleOf(&list.Items[i]))
	}
	return handles, nil
}
