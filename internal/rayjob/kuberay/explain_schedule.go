package kuberay

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// unscheduled tells why a pod has no machine yet.
func (s scene) unscheduled(p *corev1.Pod) fault {
	c := condition(p, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse {
		return fault{}
	}
	switch c.Reason {
	case corev1.PodReasonUnschedulable:
		f := unschedulable(p, c.Message)
		if f.remedy == "" && s.recent(p.Name, "TriggeredScaleUp", "Nominated") != nil { // of the cluster's autoscaler, or of Karpenter
			f.what += "; a new machine is being started"
		}
		return f
	case corev1.PodReasonSchedulingGated:
		return fault{what: "the cluster holds it back until its turn"}
	default:
		return fault{"the scheduler of the cluster has an error" + bracket(c.Message), askOperator}
	}
}

var (
	// shortage is a reason of the scheduler that names a resource.
	shortage = regexp.MustCompile(`Insufficient ([^\s,]+)`)
	// taint is the key of a taint that keeps a pod away; Kubernetes 1.35 no longer tells it.
	taint = regexp.MustCompile(`untolerated taint \{([^:}]*)`)
	// claim is the name of a PersistentVolumeClaim.
	claim = regexp.MustCompile(`persistentvolumeclaim "([^"]+)" ([^.,]+)`)
)

// unschedulable words the scheduler's message about a pod: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) …". Only
// the first part counts, since what follows says why nobody else's pods make room. The one long switch is the table of the
// scheduler's reasons, what is scarce before what is closed.
func unschedulable(p *corev1.Pod, message string) fault {
	reasons, _, _ := strings.Cut(message, "preemption:")
	has := func(text string) bool { return strings.Contains(reasons, text) }
	selector := selectorOf(p)
	switch {
	case has("persistentvolumeclaim") || has("PersistentVolumeClaims") || has("persistent volumes to bind") || has("non-existent pv"):
		return unbound(reasons)
	case has("ReadWriteOncePod"):
		return fault{"another pod has the shared volume to itself", askOperator + " to make the volume ReadWriteMany"}
	case shortage.MatchString(reasons):
		return fault{what: "no node has " + short(p, reasons) + " free"}
	case has("Too many pods"):
		return fault{what: "every node runs as many pods as it may"}
	case has("PersistentVolume's node affinity") || has("volume node affinity conflict") || has("available volume zone"):
		return fault{"the shared volume cannot be reached from the nodes that are free", askOperator + " for a volume that every node reaches"}
	case has("were unschedulable") || has("{node.kubernetes.io/") || has("unknown conditions"):
		return fault{"the nodes for it are under maintenance or not reachable", askOperator + " if this lasts"}
	case has("affinity/selector") && has("untolerated taint"):
		return fault{"no node" + selector + " is open to it", askOperator + " to mend the node selector or the tolerations of the profile"}
	case has("affinity/selector"):
		return fault{"the cluster has no node" + selector, askOperator + " to mend the node selector of the profile"}
	case has("untolerated taint") || has("taints that the pod didn't tolerate"):
		return fault{"every node is reserved for other work" + reserved(reasons), askOperator + " to add a toleration to the profile"}
	case has("exceed max volume count"):
		return fault{what: "every node has as many volumes as it may"}
	case has("no nodes available") || has("0/0 nodes"):
		return fault{"the cluster has no nodes", askOperator}
	default:
		_, after, _ := strings.Cut(reasons, ":")
		return fault{"no node fits" + bracket(after), askOperator}
	}
}

// short words how much the pod wants of what the scheduler found too little of.
func short(p *corev1.Pod, reasons string) string {
	var names []corev1.ResourceName
	for _, m := range shortage.FindAllStringSubmatch(reasons, -1) {
		names = append(names, corev1.ResourceName(strings.TrimRight(m[1], ".")))
	}
	if text := amounts(requests(p), names...); text != "" {
		return detail(text)
	}
	return "enough " + detail(string(names[0]))
}

// unbound words what is wrong with the claim of the shared volume.
func unbound(reasons string) fault {
	const mend = askOperator + " to mend the shared volume"
	m := claim.FindStringSubmatch(reasons)
	switch {
	case m == nil:
		return fault{"the shared volume has no storage yet", askOperator + " to look at the PersistentVolumeClaim if this lasts"}
	case strings.HasPrefix(m[2], "not found"):
		return fault{fmt.Sprintf("the shared volume %q does not exist", detail(m[1])), mend}
	default:
		return fault{fmt.Sprintf("the shared volume %q cannot be used%s", detail(m[1]), bracket(m[2])), mend}
	}
}

// selectorOf words the labels that a pod wants of its node.
func selectorOf(p *corev1.Pod) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		parts = append(parts, key+"="+p.Spec.NodeSelector[key])
	}
	if len(parts) == 0 {
		return " of the kind that the profile asks for"
	}
	return " with the label " + detail(enumerate(parts))
}

// reserved names the taints, where the scheduler tells them.
func reserved(reasons string) string {
	var keys []string
	for _, m := range taint.FindAllStringSubmatch(reasons, -1) {
		keys = append(keys, m[1])
	}
	slices.Sort(keys)
	return bracket(enumerate(slices.Compact(keys)))
}
