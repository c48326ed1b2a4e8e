package explain

import (
	"encoding/json"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// queuedJob is a Workload as Kueue 0.15 makes it for a RayJob that has to wait.
const queuedJob = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: rayjob-ft-abc-a1-8f3c1
  namespace: research
  creationTimestamp: "2026-01-02T11:50:00Z"
  labels: {kueue.x-k8s.io/job-uid: own}
  ownerReferences: [{apiVersion: ray.io/v1, kind: RayJob, name: ft-abc-a1, uid: own, controller: true}]
spec:
  active: true
  priority: 0
  queueName: team
  podSets:
  - {name: head, count: 1, template: {spec: {containers: [{name: ray}]}}}
  - {name: worker, count: 2, template: {spec: {containers: [{name: ray}]}}}
status:
  conditions:
  - {type: QuotaReserved, status: "False", reason: Pending, lastTransitionTime: "2026-01-02T11:50:01Z",
     message: "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor gpu, 1 more needed"}
  requeueState: {count: 1, requeueAt: "2026-01-02T11:55:00Z"}
`

func decodeYAML(t *testing.T, doc string) *unstructured.Unstructured {
	t.Helper()
	var u unstructured.Unstructured
	require.NoError(t, yaml.Unmarshal([]byte(doc), &u.Object))
	return &u
}

func TestDecodeWorkload(t *testing.T) {
	t.Parallel()
	w := decodeWorkload(decodeYAML(t, queuedJob))
	require.Equal(t, "team", w.Spec.QueueName)
	require.Equal(t, "own", string(w.Metadata.OwnerReferences[0].UID))
	require.True(t, w.pending())
	for name, doc := range map[string]string{
		"conditions that are none": "{status: {conditions: 5}}", "a queue that is none": "{spec: {queueName: {}}}",
	} {
		require.Nil(t, decodeWorkload(decodeYAML(t, doc)), name)
	}
	require.NotNil(t, decodeWorkload(&unstructured.Unstructured{}), "a Workload that Kueue has not looked at")
}

func TestPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	var items []unstructured.Unstructured
	add := func(uid string, change func(u *unstructured.Unstructured)) {
		u := decodeYAML(t, queuedJob)
		u.SetName(uid)
		u.SetOwnerReferences([]metav1.OwnerReference{{UID: "own"}})
		if uid != "own" {
			u.SetOwnerReferences([]metav1.OwnerReference{{UID: "other"}})
		}
		change(u)
		items = append(items, *u)
	}
	set := func(value any, path ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			require.NoError(t, unstructured.SetNestedField(u.Object, value, path...))
		}
	}
	at := func(d time.Duration) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) { u.SetCreationTimestamp(before(d)) }
	}
	reserved := []any{map[string]any{"type": "QuotaReserved", "status": "True"}}
	add("earlier", at(time.Hour))
	add("running", set(reserved, "status", "conditions"))
	add("own", at(10*time.Minute))
	add("later", at(time.Minute))
	add("later and urgent", func(u *unstructured.Unstructured) {
		at(time.Minute)(u)
		set(int64(10), "spec", "priority")(u)
	})
	add("elsewhere", func(u *unstructured.Unstructured) {
		at(time.Hour)(u)
		set("other", "spec", "queueName")(u)
	})
	add("taken out", func(u *unstructured.Unstructured) {
		at(time.Hour)(u)
		set(false, "spec", "active")(u)
	})
	add("broken", set("x", "status"))
	require.Equal(t, 3, FindWorkload(items, "own").position, "after the earlier and the urgent one")
	require.Nil(t, FindWorkload(items, "nobody"))
	require.Nil(t, FindWorkload(nil, "own"))
}

func TestQueued(t *testing.T) {
	t.Parallel()
	yes := func(kind, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
	}
	no := func(message string) metav1.Condition {
		return metav1.Condition{Type: "QuotaReserved", Status: metav1.ConditionFalse, Reason: "Pending", Message: message}
	}
	for name, tc := range map[string]struct {
		conditions []metav1.Condition
		set        func(*Workload)
		want       string
	}{
		"not looked at": {want: ""},
		"place":         {set: func(w *Workload) { w.position = 3 }, want: " at position 3"},
		"no room": {
			conditions: []metav1.Condition{no("couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor " +
				"gpu, 1 more needed")},
			want: ": the free quota of the queue is short by 1 GPU",
		},
		"too large": {
			conditions: []metav1.Condition{no("couldn't assign flavors to pod set worker: insufficient quota for cpu in flavor cpu, previously " +
				"considered podsets requests (1) + current podset request (16) > maximum capacity (8)")},
			want: ": it requests 16 CPUs, but the queue has at most 8; " +
				"choose a smaller profile or fewer workers, " + orAdministrator + " for a larger quota",
		},
		"no queue": {conditions: []metav1.Condition{no("LocalQueue team doesn't exist")}, want: ": LocalQueue team doesn't exist"},
		"a number in other words": {
			conditions: []metav1.Condition{no("insufficient unused quota for cpu in flavor x, many more needed")}, want: ": the free quota of the queue is short by many cpu",
		},
		"machines on their way": {
			conditions: []metav1.Condition{yes("QuotaReserved", "QuotaReserved", "")},
			want:       ": its quota is reserved, and its nodes are being prepared",
		},
		"preempted": {
			conditions: []metav1.Condition{yes("Evicted", "Preempted", "Preempted to accommodate a workload"), no("x")},
			want:       ": a job of higher priority has its place; it will go on from its last checkpoint",
		},
		"another eviction":  {conditions: []metav1.Condition{yes("Evicted", "New", "for fun")}, want: ": it was returned to the queue (New: for fun)"},
		"taken out by hand": {set: func(w *Workload) { w.Spec.Active = new(bool) }, want: ": the job was deactivated in the queue" + toAdministrator},
		"given up": {
			conditions: []metav1.Condition{yes("Evicted", "Deactivated", "exceeding the maximum number of re-queuing retries")},
			set:        func(w *Workload) { w.Spec.Active = new(bool) },
			want:       ": the job was deactivated in the queue (exceeding the maximum number of re-queuing retries)" + toAdministrator,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &Workload{}
			w.Spec.QueueName, w.Status.Conditions = "team", tc.conditions
			if tc.set != nil {
				tc.set(w)
			}
			s := newSnapshot(2)
			s.Queue, s.Job.Spec.Suspend, s.Job.Status.JobDeploymentStatus = w, true, rayv1.JobDeploymentStatusSuspended
			require.Equal(t, `waiting in the queue "team"`+tc.want, s.Waiting())
		})
	}
}

func TestQueuedNoMore(t *testing.T) {
	t.Parallel()
	s := newSnapshot(1)
	s.Queue = &Workload{}
	s.Queue.Status.Conditions = []metav1.Condition{
		{Type: "QuotaReserved", Status: metav1.ConditionTrue},
		{Type: "Admitted", Status: metav1.ConditionTrue},
		{Type: "Evicted", Status: metav1.ConditionFalse},
	}
	require.Equal(t, "starting 1 head and 1 worker", s.Waiting())
}

func FuzzDecodeWorkload(f *testing.F) {
	doc, err := yaml.YAMLToJSON([]byte(queuedJob))
	require.NoError(f, err)
	f.Add(doc)
	f.Add([]byte(`{"status": {"conditions": [{"type": "Evicted", "status": "True", "message": "\u2028"}]}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var u unstructured.Unstructured
		if json.Unmarshal(doc, &u.Object) != nil {
			return
		}
		s := newSnapshot(1)
		if s.Queue = FindWorkload([]unstructured.Unstructured{u, u}, "own"); s.Queue == nil {
			s.Queue = decodeWorkload(&u)
		}
		requireLine(t, s.Waiting(), s.Trouble())
	})
}
