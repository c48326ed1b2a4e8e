package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/ncsa/clowder-ray/internal/text"
)

// nodeShortfall looks for pods that the nodes cannot hold even when empty. It checks each group of pods by itself; whether
// all groups fit together is left to the scheduler.
func nodeShortfall(groups []podGroup, nodes []corev1.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	for _, a := range groups {
		open := slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool { return !admits(&n, a.pod) })
		if f := a.over(open); f.Cause != "" {
			return f.String()
		}
	}
	return ""
}

// admits reports whether the pod may be placed on the node. Temporary problems of the node do not count.
func admits(node *corev1.Node, pod *corev1.Pod) bool {
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !fits {
		return false
	}
	_, closed := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, permanentTaint, false)
	return !closed
}

// permanentTaint reports a taint that keeps pods away and was set by a person. Kubernetes itself taints nodes with problems.
func permanentTaint(t *corev1.Taint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule &&
		!strings.HasPrefix(t.Key, "node.kubernetes.io/") && !strings.HasPrefix(t.Key, "node.cloudprovider.kubernetes.io/")
}

// over says why the nodes that admit the pods are too few or too small for them.
func (a podGroup) over(open []corev1.Node) Diagnosis {
	want := requests(a.pod)
	holds := 0
	for i := range open {
		holds += podsThatFit(want, open[i].Status.Allocatable)
	}
	who := "each worker"
	if a.head {
		who = "the head"
	}
	switch {
	case a.count == 0 || holds >= a.count:
		return Diagnosis{}
	case len(open) == 0:
		return Diagnosis{"no node" + selectorOf(a.pod) + " accepts the training", "choose another profile, or " + askAdministrator + " to correct this one"}
	case holds == 0:
		return Diagnosis{
			fmt.Sprintf("%s requests %s, but no node has that much%s", who, amounts(want), largest(want, open)),
			"choose a smaller profile, or " + askAdministrator + " for larger nodes",
		}
	default:
		return Diagnosis{
			fmt.Sprintf("%s request %s each, but the nodes can hold at most %d of them even when empty", text.Count(a.count, "worker"), amounts(want), holds),
			"choose at most " + text.Count(holds, "worker"),
		}
	}
}

// podsThatFit returns how many pods of this size an empty node holds.
func podsThatFit(want, has corev1.ResourceList) int {
	fits := int64(math.MaxInt16) // more than any training needs, and too small to overflow a sum
	if pods, ok := has[corev1.ResourcePods]; ok {
		fits = min(fits, pods.Value())
	}
	for name, q := range want {
		if q.Sign() > 0 {
			have := has[name]
			fits = min(fits, have.MilliValue()/max(1, q.MilliValue()))
		}
	}
	return int(max(0, fits))
}

// largest names the largest amount that any node has of each resource that is too small.
func largest(want corev1.ResourceList, nodes []corev1.Node) string {
	best := corev1.ResourceList{}
	for i := range nodes {
		for name := range want {
			if have := nodes[i].Status.Allocatable[name]; have.Cmp(best[name]) > 0 {
				best[name] = have
			}
		}
	}
	var parts []string
	for _, name := range sorted(want) {
		if requested, have := want[name], best[name]; requested.Cmp(have) > 0 {
			parts = append(parts, amount(name, have))
		}
	}
	if len(parts) == 0 {
		return " at once"
	}
	return " (at most " + text.List(parts) + ")"
}

// selectorOf words the labels that a pod requires of its node.
func selectorOf(p *corev1.Pod) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		parts = append(parts, key+"="+p.Spec.NodeSelector[key])
	}
	if len(parts) == 0 {
		return " that matches the profile"
	}
	return " with the label " + detail(text.List(parts))
}
