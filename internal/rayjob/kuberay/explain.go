package kuberay

import (
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// scene is what the cluster shows of one attempt at one moment. Any part but the job may be missing.
type scene struct {
	job     *rayv1.RayJob
	cluster *rayv1.RayCluster // the attempt's own, or the standing one that it was sent to; nil where there is none
	pods    []*corev1.Pod     // of the cluster
	events  []corev1.Event    // of the job, its cluster and its pods, the normal ones too, in any order
	queue   *workload         // Kueue's view; nil where it has none
	now     time.Time
}

// waiting says what an attempt that has not started waits for, on one line of at most rayjob.MaxReason characters; empty
// where nothing is known.
func (s scene) waiting() string {
	return first(s.queued, s.unnoticed, s.refused, s.clusterless, s.blocked, s.starting)
}

// trouble says in the same form what hit a running or failed attempt, or what keeps a part of it from working, and what
// helps; empty where nothing did.
func (s scene) trouble() string {
	return first(s.hit, s.refused, s.missing, s.returning)
}

// first is what the first of the looks that sees something has to say.
func first(looks ...func() string) string {
	for _, look := range looks {
		if line := rayjob.OneLine(look(), rayjob.MaxReason); line != "" {
			return line
		}
	}
	return ""
}

// fault is what is wrong, in words for a scientist who knows no Kubernetes.
type fault struct {
	what   string // "no node has 1 GPU free"
	remedy string // "choose a profile with more memory"; empty where time helps
}

// askOperator begins the remedies that are not in the user's hands.
const askOperator = "ask the operator of the extractor"

const (
	// maxDetail bounds foreign text within a sentence.
	maxDetail = 100
	// maxBefore is the room for whom a fault concerns.
	maxBefore = 100
)

// String is the fault with its remedy. The remedy is never cut off, however long the text before it is.
func (f fault) String() string {
	if f.remedy == "" {
		return f.what
	}
	return rayjob.OneLine(f.what, rayjob.MaxReason-maxBefore-len("; "+f.remedy)) + "; " + f.remedy
}

// detail makes foreign text fit for the middle of a sentence.
func detail(text string) string { return rayjob.OneLine(text, maxDetail) }

// bracket is foreign text behind what it explains; nothing where there is none.
func bracket(text string) string {
	if text = detail(text); text == "" {
		return ""
	}
	return " (" + text + ")"
}

// since reports whether something that happened at a time happened to this attempt: the pods of a standing cluster had a
// life before it. A time that is not known counts.
func (s scene) since(at time.Time) bool {
	start := s.job.CreationTimestamp.Time
	if s.job.Status.StartTime != nil {
		start = s.job.Status.StartTime.Time
	}
	return at.IsZero() || !at.Before(start.Truncate(time.Second)) // the times of Kubernetes have no fractions
}
