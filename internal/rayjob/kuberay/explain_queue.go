package kuberay

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// workload is what Kueue says about one RayJob, as far as it is used.
type workload struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		QueueName string `json:"queueName"`
		Priority  int32  `json:"priority"`
		Active    *bool  `json:"active"`
	} `json:"spec"`
	Status struct {
		Conditions   []metav1.Condition `json:"conditions"`
		RequeueState struct {
			RequeueAt *time.Time `json:"requeueAt"`
		} `json:"requeueState"`
	} `json:"status"`

	place int // from 1, among those of the namespace that wait in the same queue; 0 where it is not known
}

// decodeWorkload reads a Workload of any version of Kueue's API; nil where it is none.
func decodeWorkload(u *unstructured.Unstructured) *workload {
	var w workload
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &w); err != nil {
		return nil
	}
	return &w
}

// findWorkload returns Kueue's view of the job among the workloads of its namespace, with its place in the queue; nil
// where Kueue has not taken up the job.
func findWorkload(items []unstructured.Unstructured, job types.UID) *workload {
	for i := range items {
		if w := decodeWorkload(&items[i]); w != nil && w.owned(job) {
			return w
		}
	}
	return nil
}

func (w *workload) owned(job types.UID) bool {
	for _, owner := range w.Metadata.OwnerReferences {
		if owner.UID == job {
			return true
		}
	}
	return false
}
