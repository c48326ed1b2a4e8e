package kuberay

import (
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
)

// scene is what the cluster shows of one attempt at one moment. Any part but the job may be missing.
type scene struct {
	job     *rayv1.RayJob
	cluster *rayv1.RayCluster // the attempt's own, or the standing one that it was sent to; nil where there is none
	pods    []*corev1.Pod     // of the cluster
	events  []corev1.Event    // of the job, its cluster and its pods, in any order
	queue   *workload         // Kueue's view; nil where it has none
	now     time.Time
}

// waiting says what an attempt that has not started waits for, on one line of at most rayjob.MaxReason characters; empty
// where nothing is known.
func (s scene) waiting() string { return "" }

// trouble says in the same form what hit a running or failed attempt, or what keeps a part of it from working, and what
// helps; empty where nothing did.
func (s scene) trouble() string { return "" }
