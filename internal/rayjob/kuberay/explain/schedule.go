package explain

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// unscheduled explains why a pod has no node yet.
func (s Snapshot) unscheduled(p *corev1.Pod) Diagnosis {
	c := condition(p, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse {
		return Diagnosis{}
	}
	if c.Reason != corev1.PodReasonUnschedulable {
		return Diagnosis{"it cannot be scheduled" + reported(c.Reason, c.Message), askAdministrator + " if this lasts"}
	}
	f := unschedulable(p, c.Message)
	if f.Remedy == "" {
		f.Cause += s.scaling(p)
	}
	return f
}

// scaling says what the cluster autoscaler or Karpenter does for a pod that needs a node, "" for nothing.
func (s Snapshot) scaling(p *corev1.Pod) string {
	e := s.recentEvent(p.Name, "TriggeredScaleUp", "Nominated", "NotTriggerScaleUp")
	switch {
	case e == nil:
		return ""
	case e.Reason == "NotTriggerScaleUp":
		return "; the cluster adds no node" + inParentheses(lastCause(e.Message))
	default:
		return "; a new node is being started"
	}
}

var (
	// shortage matches a reason of the scheduler that names a resource.
	shortage = regexp.MustCompile(`Insufficient ([^\s,]+)`)
	// storage matches a reason that names the claim of a volume.
	storage = regexp.MustCompile(`(?i)persistentvolumeclaim|persistent volumes to bind`)
)

// unschedulable words the scheduler's message about a pod: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) …". Only
// the first part counts, since the rest says why no other pod can be preempted. A shortage comes before closed nodes. Other
// reasons are shown as they are.
func unschedulable(p *corev1.Pod, message string) Diagnosis {
	reasons, _, _ := strings.Cut(message, "preemption:")
	said := reasons
	if _, after, ok := strings.Cut(reasons, "nodes are available: "); ok {
		said = after
	}
	switch {
	case storage.MatchString(reasons):
		return Diagnosis{"the shared volume is not available" + inParentheses(said), askAdministrator + " to check the PersistentVolumeClaim if this lasts"}
	case shortage.MatchString(reasons):
		return Diagnosis{Cause: "no node has " + short(p, reasons) + " free"}
	default:
		return Diagnosis{"no node fits" + inParentheses(said), askAdministrator}
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
