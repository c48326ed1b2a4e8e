package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Workload is Kueue's view of one RayJob.
type Workload struct {
	workloadObject
	position int // from 1, among the jobs of the namespace that wait in the same queue; 0 if unknown
}

// workloadObject holds the fields of Kueue's Workload that are used. All versions of Kueue's API have them.
type workloadObject struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		QueueName string `json:"queueName"`
		Priority  int32  `json:"priority"`
		Active    *bool  `json:"active"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// decodeWorkload reads a Workload. It returns nil for an object that is not one.
func decodeWorkload(u *unstructured.Unstructured) *Workload {
	var w Workload
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &w.workloadObject); err != nil {
		return nil
	}
	return &w
}

// FindWorkload returns Kueue's view of the job among the workloads of its namespace, with its position in the queue. It
// returns nil if Kueue has not accepted the job.
func FindWorkload(items []unstructured.Unstructured, job types.UID) *Workload {
	var own *Workload
	var all []*Workload
	for i := range items {
		w := decodeWorkload(&items[i])
		if w == nil {
			continue
		}
		all = append(all, w)
		if slices.ContainsFunc(w.Metadata.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == job }) {
			own = w
		}
	}
	if own != nil && own.pending() {
		own.position = own.positionAmong(all)
	}
	return own
}

// positionAmong returns the position in the queue: Kueue admits the highest priority first, then the oldest workload.
func (w *Workload) positionAmong(all []*Workload) int {
	return 1 + len(slices.DeleteFunc(slices.Clone(all), func(o *Workload) bool {
		return o.Spec.QueueName != w.Spec.QueueName || !o.pending() || cmp.Or(
			cmp.Compare(w.Spec.Priority, o.Spec.Priority), o.Metadata.CreationTimestamp.Compare(w.Metadata.CreationTimestamp.Time),
			cmp.Compare(o.Metadata.Name, w.Metadata.Name)) >= 0
	}))
}

// The conditions of a Workload.
const (
	queueReserved = "QuotaReserved"
	queueAdmitted = "Admitted"
	queueEvicted  = "Evicted"
	queueFinished = "Finished"
)

// queuePreempted is the reason of an eviction in favour of another job. Its message has nothing but ids of objects.
const queuePreempted = "Preempted"

func (w *Workload) is(condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

// pending reports a workload that waits for quota in its queue.
func (w *Workload) pending() bool {
	return !w.is(queueReserved) && !w.is(queueFinished) && !w.inactive()
}

func (w *Workload) inactive() bool { return w.Spec.Active != nil && !*w.Spec.Active }

// queued explains why Kueue has not admitted the job.
func (s Snapshot) queued() string {
	w := s.Queue
	if w == nil || w.is(queueFinished) || w.is(queueAdmitted) && !w.is(queueEvicted) && !w.inactive() {
		return ""
	}
	reason := w.reason()
	line := fmt.Sprintf("waiting in the queue %q", detail(w.Spec.QueueName))
	if w.position > 0 {
		line += fmt.Sprintf(" at position %d", w.position)
	}
	if reason.Cause == "" {
		return line
	}
	return line + ": " + reason.String()
}

// reason words Kueue's conditions. Evicted stays true until the job is admitted again, so newer conditions come first.
func (w *Workload) reason() Diagnosis {
	message := ""
	if c := meta.FindStatusCondition(w.Status.Conditions, queueReserved); c != nil {
		message = c.Message
	}
	eviction := meta.FindStatusCondition(w.Status.Conditions, queueEvicted)
	switch {
	case w.inactive() && eviction != nil:
		return Diagnosis{"the job was deactivated in the queue" + inParentheses(eviction.Message), askAdministrator}
	case w.inactive():
		return Diagnosis{"the job was deactivated in the queue", askAdministrator}
	case w.is(queueReserved):
		return Diagnosis{Cause: "its quota is reserved, and its nodes are being prepared"}
	case eviction != nil && eviction.Status == metav1.ConditionTrue && eviction.Reason == queuePreempted:
		return Diagnosis{Cause: "a job of higher priority has its place; it will go on from its last checkpoint"}
	case eviction != nil && eviction.Status == metav1.ConditionTrue:
		return Diagnosis{Cause: "it was returned to the queue" + reported(eviction.Reason, eviction.Message)}
	default:
		return quotaShortage(message)
	}
}

var (
	quotaInUse    = regexp.MustCompile(`insufficient unused quota for (\S+) in flavor \S+, (\S+) more needed`)
	quotaTooSmall = regexp.MustCompile(`insufficient quota for (\S+) in flavor \S+, .*current podset request \(([^)]+)\) > maximum capacity \(([^)]+)\)`)
)

// quotaShortage words why Kueue cannot reserve quota for a job. A reason other than quota is shown as it is.
func quotaShortage(message string) Diagnosis {
	if m := quotaTooSmall.FindStringSubmatch(message); m != nil {
		return Diagnosis{
			fmt.Sprintf("it requests %s, but the queue has at most %s", kueueAmount(m[1], m[2]), detail(m[3])),
			"choose a smaller profile or fewer workers, or " + askAdministrator + " for a larger quota",
		}
	}
	if m := quotaInUse.FindStringSubmatch(message); m != nil {
		return Diagnosis{Cause: "the free quota of the queue is short by " + kueueAmount(m[1], m[2])}
	}
	return Diagnosis{Cause: detail(message)}
}

// kueueAmount words an amount in a message of Kueue.
func kueueAmount(name, text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return detail(text + " " + name)
	}
	return detail(amount(corev1.ResourceName(name), q))
}
