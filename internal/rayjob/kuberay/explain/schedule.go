package explain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/text"
)

// unscheduled explains why a pod has no node yet.
func (s Snapshot) unscheduled(p *corev1.Pod) Diagnosis {
	c := condition(p, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse {
		return Diagnosis{}
	}
	switch c.Reason {
	case corev1.PodReasonUnschedulable:
		f := unschedulable(p, c.Message)
		if f.Remedy == "" && s.recentEvent(p.Name, "TriggeredScaleUp", "Nominated") != nil { // events of the cluster autoscaler and of Karpenter
			f.Cause += "; a new node is being started"
		}
		return f
	case corev1.PodReasonSchedulingGated:
		return Diagnosis{Cause: "a scheduling gate of the cluster holds it back"}
	default:
		return Diagnosis{"the scheduler of the cluster reports an error" + inParentheses(c.Message), askAdministrator}
	}
}

var (
	// shortage matches a reason of the scheduler that names a resource.
	shortage = regexp.MustCompile(`Insufficient ([^\s,]+)`)
	// taint matches the key of a taint that keeps a pod away. Kubernetes 1.35 no longer reports the key.
	taint = regexp.MustCompile(`untolerated taint \{([^:}]*)`)
	// claim matches the name of a PersistentVolumeClaim and what is wrong with it.
	claim = regexp.MustCompile(`persistentvolumeclaim "([^"]+)" ([^.,]+)`)
)

// unschedulable words the scheduler's message about a pod: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) …". Only
// the first part counts, since the rest says why no other pod can be preempted. The switch is the only table of the
// scheduler's reasons. Shortages come before closed nodes.
func unschedulable(p *corev1.Pod, message string) Diagnosis {
	reasons, _, _ := strings.Cut(message, "preemption:")
	has := func(text string) bool { return strings.Contains(reasons, text) }
	selector := selectorOf(p)
	switch {
	case has("persistentvolumeclaim") || has("PersistentVolumeClaims") || has("persistent volumes to bind") || has("non-existent pv"):
		return unbound(reasons)
	case has("ReadWriteOncePod"):
		return Diagnosis{"another pod has exclusive use of the shared volume", askAdministrator + " to make the volume ReadWriteMany"}
	case shortage.MatchString(reasons):
		return Diagnosis{Cause: "no node has " + short(p, reasons) + " free"}
	case has("Too many pods"):
		return Diagnosis{Cause: "every node has reached its pod limit"}
	case has("PersistentVolume's node affinity") || has("volume node affinity conflict") || has("available volume zone"):
		return Diagnosis{"the free nodes cannot reach the shared volume", askAdministrator + " for a volume that all nodes can reach"}
	case has("were unschedulable") || has("{node.kubernetes.io/") || has("unknown conditions"):
		return Diagnosis{"its nodes are under maintenance or unreachable", askAdministrator + " if this lasts"}
	case has("affinity/selector") && has("untolerated taint"):
		return Diagnosis{"no node" + selector + " accepts it", askAdministrator + " to correct the node selector or the tolerations of the profile"}
	case has("affinity/selector"):
		return Diagnosis{"the cluster has no node" + selector, askAdministrator + " to correct the node selector of the profile"}
	case has("untolerated taint") || has("taints that the pod didn't tolerate"):
		return Diagnosis{"every node is reserved for other work" + reserved(reasons), askAdministrator + " to add a toleration to the profile"}
	case has("exceed max volume count"):
		return Diagnosis{Cause: "every node has reached its volume limit"}
	case has("no nodes available") || has("0/0 nodes"):
		return Diagnosis{"the cluster has no nodes", askAdministrator}
	default:
		_, after, _ := strings.Cut(reasons, ":")
		return Diagnosis{"no node fits" + inParentheses(after), askAdministrator}
	}
}

// short words how much the pod requests of the resources that the scheduler reports as insufficient.
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

// unbound words what is wrong with the PersistentVolumeClaim of the shared volume.
func unbound(reasons string) Diagnosis {
	const repair = askAdministrator + " to repair the shared volume"
	m := claim.FindStringSubmatch(reasons)
	switch {
	case m == nil:
		return Diagnosis{"the shared volume has no storage yet", askAdministrator + " to check the PersistentVolumeClaim if this lasts"}
	case strings.HasPrefix(m[2], "not found"):
		return Diagnosis{fmt.Sprintf("the shared volume %q does not exist", detail(m[1])), repair}
	default:
		return Diagnosis{fmt.Sprintf("the shared volume %q cannot be used%s", detail(m[1]), inParentheses(m[2])), repair}
	}
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

// reserved names the taints, if the scheduler reports them.
func reserved(reasons string) string {
	var keys []string
	for _, m := range taint.FindAllStringSubmatch(reasons, -1) {
		keys = append(keys, m[1])
	}
	slices.Sort(keys)
	return inParentheses(text.List(slices.Compact(keys)))
}
