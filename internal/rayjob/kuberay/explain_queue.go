package kuberay

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// workload is Kueue's view of one RayJob.
type workload struct {
	workloadObject
	place int // from 1, among the jobs of the namespace that wait in the same queue; 0 where it is not known
}

// workloadObject is a Workload, as far as it is used. All versions of Kueue's API have these fields.
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

// decodeWorkload reads a Workload; nil where it is none.
func decodeWorkload(u *unstructured.Unstructured) *workload {
	var w workload
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &w.workloadObject); err != nil {
		return nil
	}
	return &w
}

// findWorkload returns Kueue's view of the job among the workloads of its namespace, with its place in the queue; nil
// where Kueue has not taken up the job.
func findWorkload(items []unstructured.Unstructured, job types.UID) *workload {
	var own *workload
	var all []*workload
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
		own.place = own.placeAmong(all)
	}
	return own
}

// placeAmong counts who comes before the workload: Kueue takes the highest priority, and then who came first.
func (w *workload) placeAmong(all []*workload) int {
	return 1 + len(slices.DeleteFunc(slices.Clone(all), func(o *workload) bool {
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

func (w *workload) is(condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

// pending reports a workload that waits for room in its queue.
func (w *workload) pending() bool {
	return !w.is(queueReserved) && !w.is(queueFinished) && !w.inactive()
}

func (w *workload) inactive() bool { return w.Spec.Active != nil && !*w.Spec.Active }

// queued tells why Kueue does not let the job begin.
func (s scene) queued() string {
	w := s.queue
	if w == nil || w.is(queueFinished) || w.is(queueAdmitted) && !w.is(queueEvicted) && !w.inactive() {
		return ""
	}
	why := w.reason()
	where := fmt.Sprintf("waiting in the queue %q", detail(w.Spec.QueueName))
	if w.place > 0 {
		where += fmt.Sprintf(" in place %d", w.place)
	}
	if why.what == "" {
		return where
	}
	return where + ": " + why.String()
}

// reason words Kueue's conditions. Evicted stays true until the job is let in again, so what is newer comes first.
func (w *workload) reason() fault {
	message := ""
	if c := meta.FindStatusCondition(w.Status.Conditions, queueReserved); c != nil {
		message = c.Message
	}
	back := meta.FindStatusCondition(w.Status.Conditions, queueEvicted)
	switch {
	case w.inactive() && back != nil:
		return fault{"Kueue has given up the job" + bracket(back.Message), askOperator}
	case w.inactive():
		return fault{"somebody has taken the job out of the queue", askOperator}
	case w.is(queueReserved):
		return fault{what: "its turn has come, and the machines for it are being prepared"}
	case back != nil && back.Status == metav1.ConditionTrue:
		return sentBack(back)
	default:
		return noRoom(message)
	}
}

// sentBack words why Kueue has sent a job that was let in back to the queue.
func sentBack(c *metav1.Condition) fault {
	switch c.Reason {
	case "Preempted":
		return fault{what: "it made room for a job that comes first, and goes on when there is room again"}
	case "PodsReadyTimeout":
		return fault{"its Ray cluster did not start in time and is tried again", askOperator + " if this lasts"}
	case "ClusterQueueStopped", "LocalQueueStopped":
		return fault{"the queue is stopped", askOperator + " when it opens again"}
	case "AdmissionCheck":
		return fault{"the machines for it could not be had and are asked for again", askOperator + " if this lasts"}
	case "NodeFailures":
		return fault{what: "a machine failed, and it goes on when there is room again"}
	default:
		return fault{what: "it was sent back to the queue" + bracket(c.Message)}
	}
}

var (
	lacking  = regexp.MustCompile(`insufficient unused quota for (\S+) in flavor \S+, (\S+) more needed`)
	tooLarge = regexp.MustCompile(`insufficient quota for (\S+) in flavor \S+, .*current podset request \(([^)]+)\) > maximum capacity \(([^)]+)\)`)
)

// noRoom words why Kueue finds no place for a job.
func noRoom(message string) fault {
	if m := tooLarge.FindStringSubmatch(message); m != nil {
		return fault{
			fmt.Sprintf("it asks for %s, and the queue never has more than %s", quotaAmount(m[1], m[2]), detail(m[3])),
			"choose a smaller profile or fewer workers, or " + askOperator + " for a larger quota",
		}
	}
	if m := lacking.FindStringSubmatch(message); m != nil {
		return fault{what: "the queue is short of " + quotaAmount(m[1], m[2])}
	}
	has := func(text string) bool { return strings.Contains(message, text) }
	switch {
	case has("LocalQueue") && has("doesn't exist"):
		return fault{"the queue does not exist", askOperator + " to mend the profile"}
	case has("ClusterQueue") && has("doesn't exist"), has("inactive"), has("stopped"):
		return fault{"the queue is closed" + bracket(message), askOperator}
	case message == "", has("no longer fits"):
		return fault{}
	default:
		return fault{what: detail(message)}
	}
}

// quotaAmount words an amount in a message of Kueue.
func quotaAmount(name, text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return detail(text + " " + name)
	}
	return detail(amount(corev1.ResourceName(name), q))
}
