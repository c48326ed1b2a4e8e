package explain

import (
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// KindLabel marks the pods that run scripts of users, with the value KindScript. Network policies know them by it.
const (
	KindLabel  = "clowder-ray.ncsa.illinois.edu/kind"
	KindScript = "script"
)

// QueueLabel is the label by which a RayJob names its local queue of Kueue.
const QueueLabel = "kueue.x-k8s.io/queue-name"

// Snapshot is the state of the cluster around one attempt at one moment. Only Job and Now are required. No method changes
// anything in it.
type Snapshot struct {
	Job *rayv1.RayJob
	// Cluster is the attempt's own RayCluster, or the standing one that it was sent to; nil if it does not exist.
	Cluster *rayv1.RayCluster
	// Pods are the pods of the cluster.
	Pods []*corev1.Pod
	// Events are the events about the job, its cluster and its pods, in any order. Normal events are included.
	Events []corev1.Event
	// Queue is Kueue's view of the job; nil if Kueue does not manage it.
	Queue *Workload
	Now   time.Time
}

// Waiting says what a pending attempt waits for, on one line of at most rayjob.MaxReason characters. It returns "" if
// nothing is known.
func (s Snapshot) Waiting() string {
	return firstLine(s.queued, s.notTakenUp, s.creationRefused, s.withoutCluster, s.blockedPods, s.startProgress)
}

// Trouble says on one line of at most rayjob.MaxReason characters what went wrong with a running or failed attempt, or
// what keeps a part of it from working, and what helps. It returns "" if nothing is wrong.
func (s Snapshot) Trouble() string {
	return firstLine(s.lostPods, s.creationRefused, s.missingPods, s.restartingPods)
}

// Healthy reports that the cluster has all its pods and all of them are ready, so that no event can explain more.
func (s Snapshot) Healthy() bool { return s.complete() && len(s.unreadyPods()) == 0 }

// EventSources names the objects whose events are worth a request: the job, its cluster, and the first pod that is not
// ready.
func (s Snapshot) EventSources() []string {
	names := []string{s.Job.Name}
	if s.Cluster != nil {
		names = append(names, s.Cluster.Name)
	}
	if unready := s.unreadyPods(); len(unready) > 0 {
		names = append(names, unready[0].Name)
	}
	return names
}

// StandingCluster returns the name of the RayCluster that the job was sent to, or "" if the job has a cluster of its own.
func StandingCluster(rj *rayv1.RayJob) string {
	return rj.Spec.ClusterSelector[utils.RayJobClusterSelectorKey]
}

// firstLine returns the first text that is not empty.
func firstLine(explanations ...func() string) string {
	for _, explanation := range explanations {
		if line := rayjob.OneLine(explanation(), rayjob.MaxReason); line != "" {
			return line
		}
	}
	return ""
}

// duringAttempt reports whether something that happened at this time concerns this attempt: the pods of a standing
// cluster are older than the attempt. An unknown time counts.
func (s Snapshot) duringAttempt(at time.Time) bool {
	start := s.Job.CreationTimestamp.Time
	if s.Job.Status.StartTime != nil {
		start = s.Job.Status.StartTime.Time
	}
	return at.IsZero() || !at.Before(start.Truncate(time.Second)) // Kubernetes stores whole seconds
}
