package kuberay

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

// inOrder are the pods with the head first, since workers wait for it, and then always in the same order.
func (s scene) inOrder() []*corev1.Pod {
	return slices.SortedFunc(slices.Values(s.pods), func(a, b *corev1.Pod) int {
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

// active are the pods that count: what is being deleted has a successor or needs none.
func (s scene) active() []*corev1.Pod {
	return slices.DeleteFunc(s.inOrder(), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

func ready(p *corev1.Pod) bool {
	c := condition(p, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// condition returns nil where the pod has none of the kind.
func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &p.Status.Conditions[i]
}

// workers is how many worker pods the cluster should have; 0 where there is no cluster to ask.
func (s scene) workers() int {
	sum := 0
	if s.cluster != nil {
		for _, g := range s.cluster.Spec.WorkerGroupSpecs {
			sum += replicas(g)
		}
	}
	return sum
}

// complete reports a cluster that has all its pods, which may still not work.
func (s scene) complete() bool {
	if s.standing() {
		return s.cluster != nil && stands(s.cluster.Status)
	}
	return len(s.active()) > s.workers() // and one head
}

// stands is complete for a standing cluster, whose pods are not seen: its status tells.
func stands(s rayv1.RayClusterStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, string(rayv1.HeadPodReady)) && s.AvailableWorkerReplicas >= s.DesiredWorkerReplicas
}

// replicas is how many pods KubeRay makes for the group.
func replicas(g rayv1.WorkerGroupSpec) int {
	g.NumOfHosts = max(1, g.NumOfHosts) // the API server's default, which a spec lacks before it is sent
	return max(0, int(utils.GetWorkerGroupDesiredReplicas(g)))
}

// party is a number of pods of one cluster.
type party struct {
	head    bool
	workers int
	of      int // all the workers
}

func (p *party) add(pod *corev1.Pod) {
	if isHead(pod) {
		p.head = true
	} else {
		p.workers++
	}
}

// String is the party as the subject of a sentence.
func (p party) String() string {
	workers := ""
	switch {
	case p.workers == 0:
	case p.workers == 1 && p.of <= 1:
		workers = "the worker"
	case p.workers >= p.of:
		workers = fmt.Sprintf("all %d workers", p.workers)
	default:
		workers = fmt.Sprintf("%d of %d workers", p.workers, p.of)
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

// is is the verb for the party: one, or many.
func (p party) is(one, many string) string {
	if p.workers > 1 || p.head && p.workers > 0 {
		return many
	}
	return one
}

// shared finds the first fault among the pods, and all the pods that have the same.
func (s scene) shared(pods []*corev1.Pod, look func(*corev1.Pod) fault) (party, fault) {
	var worst fault
	who := party{of: s.workers()}
	for _, p := range pods {
		f := look(p)
		if f.what == "" {
			continue
		}
		if worst.what == "" {
			worst = f
		}
		if f == worst {
			who.add(p)
		}
	}
	return who, worst
}

// unready are the active pods that do not work (yet).
func (s scene) unready() []*corev1.Pod {
	return slices.DeleteFunc(s.active(), ready)
}

// fault is what keeps a pod from getting ready.
func (s scene) fault(p *corev1.Pod) fault {
	if l := lossOf(p); l.what != "" && s.since(l.at) {
		return l.fault
	}
	for _, look := range []func(*corev1.Pod) fault{s.unscheduled, s.stuck, s.unprepared, s.silent} {
		if f := look(p); f.what != "" {
			return f
		}
	}
	return fault{}
}

// blocked tells what keeps the pods of a cluster that is being set up from starting.
func (s scene) blocked() string {
	who, f := s.shared(s.unready(), s.fault)
	if f.what == "" {
		return ""
	}
	return fmt.Sprintf("waiting for %s: %s", who, f)
}

// missing tells what keeps a pod of a cluster that works from coming back.
func (s scene) missing() string {
	who, f := s.shared(s.unready(), s.fault)
	if f.what == "" {
		return ""
	}
	return fmt.Sprintf("%s %s missing: %s", who, who.is("is", "are"), f)
}
