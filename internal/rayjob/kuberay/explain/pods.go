package explain

import (
	"cmp"
	"fmt"
	"slices"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

func isHead(p *corev1.Pod) bool { return p.Labels[utils.RayNodeTypeLabelKey] == string(rayv1.HeadNode) }

// sortedPods returns the pods by name, the head first, since workers wait for it.
func (s Snapshot) sortedPods() []*corev1.Pod {
	return slices.SortedFunc(slices.Values(s.Pods), func(a, b *corev1.Pod) int {
		switch {
		case isHead(a) == isHead(b):
			return cmp.Compare(a.Name, b.Name)
		case isHead(a):
			return -1
		default:
			return 1
		}
	})
}

// activePods returns the pods that are not being deleted; a pod that is has a successor or needs none.
func (s Snapshot) activePods() []*corev1.Pod {
	return slices.DeleteFunc(s.sortedPods(), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

func ready(p *corev1.Pod) bool {
	c := condition(p, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// condition returns the condition of this type, or nil if the pod has none.
func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &p.Status.Conditions[i]
}

// workers returns how many worker pods the cluster should have; 0 if there is no cluster.
func (s Snapshot) workers() int {
	sum := 0
	if s.Cluster != nil {
		for _, g := range s.Cluster.Spec.WorkerGroupSpecs {
			sum += replicas(g)
		}
	}
	return sum
}

// complete reports that the cluster has all its pods. They may not be ready.
func (s Snapshot) complete() bool {
	if s.onStandingCluster() {
		return s.Cluster != nil && standingReady(s.Cluster.Status)
	}
	return len(s.activePods()) > s.workers() // the head is one more
}

// standingReady is complete for a standing cluster. Its pods are not visible, so its status decides.
func standingReady(s rayv1.RayClusterStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, string(rayv1.HeadPodReady)) && s.AvailableWorkerReplicas >= s.DesiredWorkerReplicas
}

// replicas returns how many pods KubeRay creates for the group.
func replicas(g rayv1.WorkerGroupSpec) int {
	g.NumOfHosts = max(1, g.NumOfHosts) // the default of the API server, which a spec lacks before it is sent
	return max(0, int(utils.GetWorkerGroupDesiredReplicas(g)))
}

// scaled reports that Ray's autoscaler starts and removes the workers of a cluster.
func scaled(spec *rayv1.RayClusterSpec) bool {
	return spec.EnableInTreeAutoscaling != nil && *spec.EnableInTreeAutoscaling
}

// most returns how many pods the group may get: a run waits for all of them.
func most(spec *rayv1.RayClusterSpec, g rayv1.WorkerGroupSpec) int {
	if !scaled(spec) || g.MaxReplicas == nil {
		return replicas(g)
	}
	return max(replicas(g), int(*g.MaxReplicas)*int(max(1, g.NumOfHosts)))
}

// podSummary counts the pods of one cluster that a sentence is about.
type podSummary struct {
	head    bool
	workers int
	total   int // the workers that the cluster should have
}

func (p *podSummary) add(pod *corev1.Pod) {
	if isHead(pod) {
		p.head = true
	} else {
		p.workers++
	}
}

// String words the pods as the subject of a sentence.
func (p podSummary) String() string {
	workers := ""
	switch {
	case p.workers == 0:
	case p.workers == 1 && p.total <= 1:
		workers = "the worker"
	case p.workers >= p.total:
		workers = fmt.Sprintf("all %d workers", p.workers)
	default:
		workers = fmt.Sprintf("%d of %d workers", p.workers, p.total)
	}
	switch {
	case !p.head:
		return workers
	case workers == "":
		return "the head"
	default:
		return "the head and " + workers
	}
}

// verb returns the form of a verb that fits the pods.
func (p podSummary) verb(singular, plural string) string {
	if p.workers > 1 || p.head && p.workers > 0 {
		return plural
	}
	return singular
}

// commonDiagnosis returns the first diagnosis among the pods, and all the pods that have the same one.
func (s Snapshot) commonDiagnosis(pods []*corev1.Pod, look func(*corev1.Pod) Diagnosis) (podSummary, Diagnosis) {
	var found Diagnosis
	who := podSummary{total: s.workers()}
	for _, p := range pods {
		f := look(p)
		if f.Cause == "" {
			continue
		}
		if found.Cause == "" {
			found = f
		}
		if f == found {
			who.add(p)
		}
	}
	return who, found
}

// unreadyPods returns the active pods that are not ready.
func (s Snapshot) unreadyPods() []*corev1.Pod {
	return slices.DeleteFunc(s.activePods(), ready)
}

// diagnose says what keeps a pod from getting ready.
func (s Snapshot) diagnose(p *corev1.Pod) Diagnosis {
	if l := lossOf(p); l.Cause != "" && s.duringAttempt(l.at) {
		return l.Diagnosis
	}
	for _, look := range []func(*corev1.Pod) Diagnosis{s.unscheduled, s.blockedContainer, s.nodeSetup, s.unresponsive} {
		if f := look(p); f.Cause != "" {
			return f
		}
	}
	return Diagnosis{}
}

// blockedPods says what keeps the pods of a cluster that is being set up from starting.
func (s Snapshot) blockedPods() string {
	who, f := s.commonDiagnosis(s.unreadyPods(), s.diagnose)
	if f.Cause == "" {
		return ""
	}
	return fmt.Sprintf("waiting for %s: %s", who, f)
}

// missingPods says what keeps a pod of a working cluster from coming back.
func (s Snapshot) missingPods() string {
	who, f := s.commonDiagnosis(s.unreadyPods(), s.diagnose)
	if f.Cause == "" {
		return ""
	}
	return fmt.Sprintf("%s %s missing: %s", who, who.verb("is", "are"), f)
}
