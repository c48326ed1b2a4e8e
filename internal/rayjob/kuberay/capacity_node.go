package kuberay

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// overNodes looks for pods that the nodes cannot hold even when they are empty. Each kind of pod is looked at by itself:
// that all of them fit together is for the scheduler to find out.
func overNodes(asks []ask, nodes []corev1.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	for _, a := range asks {
		open := slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool { return !admits(&n, a.pod) })
		if f := a.over(open); f.what != "" {
			return f.String()
		}
	}
	return ""
}

// admits reports whether the pod may be placed on the node. What is wrong with the node only now does not count.
func admits(node *corev1.Node, pod *corev1.Pod) bool {
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !fits {
		return false
	}
	_, shut := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, lasting, false)
	return !shut
}

// lasting reports a taint that keeps pods away and was set by a person; Kubernetes itself marks nodes in trouble.
func lasting(t *corev1.Taint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule &&
		!strings.HasPrefix(t.Key, "node.kubernetes.io/") && !strings.HasPrefix(t.Key, "node.cloudprovider.kubernetes.io/")
}

// over says why the open nodes are too few or too small for the pods.
func (a ask) over(open []corev1.Node) fault {
	want := requests(a.pod)
	holds := 0
	for i := range open {
		holds += room(want, open[i].Status.Allocatable)
	}
	who := "each worker"
	if a.head {
		who = "the head"
	}
	switch {
	case a.count == 0 || holds >= a.count:
		return fault{}
	case len(open) == 0:
		return fault{"the cluster has no node" + selectorOf(a.pod) + " that is open to the training", "choose another profile, or " + askOperator + " to mend this one"}
	case holds == 0:
		return fault{
			fmt.Sprintf("%s asks for %s, and no node has that much%s", who, amounts(want), largest(want, open)),
			"choose a smaller profile, or " + askOperator + " for larger nodes",
		}
	default:
		return fault{
			fmt.Sprintf("%s ask for %s each, and the nodes hold no more than %d of them even when they are empty", plural(a.count, "worker"), amounts(want), holds),
			"choose at most " + plural(holds, "worker"),
		}
	}
}

// room is how many pods of this size an empty node holds.
func room(want, has corev1.ResourceList) int {
	fits := int64(math.MaxInt16) // more than any training has, and safe to sum up
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

// largest tells how much a node has at best of what is asked too much of.
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
		if wish, have := want[name], best[name]; wish.Cmp(have) > 0 {
			parts = append(parts, amount(name, have))
		}
	}
	if len(parts) == 0 {
		return " at once"
	}
	return " (at most " + enumerate(parts) + ")"
}
