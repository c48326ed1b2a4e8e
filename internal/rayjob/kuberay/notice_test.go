package kuberay

import (
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	rayfake "github.com/ray-project/kuberay/ray-operator/pkg/client/clientset/versioned/fake"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(time.Now().Add(-d)) }

// runningJob is a RayJob that has been running for ten minutes on the named cluster.
func runningJob(cluster string) *rayv1.RayJob {
	start := ago(10 * time.Minute)
	return &rayv1.RayJob{
		ObjectMeta: metav1.ObjectMeta{
			Name: "ft-abc-a1", CreationTimestamp: start, Labels: map[string]string{labelRun: "ft-abc", labelAttempt: "1"},
		},
		Status: rayv1.RayJobStatus{JobDeploymentStatus: rayv1.JobDeploymentStatusRunning, StartTime: &start, RayClusterName: cluster},
	}
}

// twoWorkers is the own cluster of the running job.
func twoWorkers() *rayv1.RayCluster {
	cluster := &rayv1.RayCluster{ObjectMeta: metav1.ObjectMeta{Name: "ft-abc-a1-x2x4z"}}
	cluster.Spec.WorkerGroupSpecs = []rayv1.WorkerGroupSpec{{GroupName: "worker", Replicas: new(int32(2)), NumOfHosts: 1}}
	return cluster
}

// rayPod is a pod of the running job that is ready, unless set changes that.
func rayPod(role rayv1.RayNodeType, name string, set ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "ft-abc-a1-x2x4z-" + name, Labels: map[string]string{utils.RayNodeTypeLabelKey: string(role), labelRun: "ft-abc", labelAttempt: "1"},
		},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	for _, s := range set {
		s(p)
	}
	return p
}

func notReady(p *corev1.Pod) { p.Status.Conditions = nil }

func beingDeleted(p *corev1.Pod) { p.DeletionTimestamp = new(ago(time.Second)) }

func eventAbout(object, reason, message string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: object + reason, Namespace: "research"},
		InvolvedObject: corev1.ObjectReference{Name: object}, Reason: reason, Message: message, LastTimestamp: ago(time.Minute),
	}
}

// syncedClient is a client whose caches hold the snapshot, and the API server that it asks for what is not cached.
func syncedClient(t *testing.T, s explain.Snapshot, e *corev1.Event, standing ...runtime.Object) (*Client, *fake.Clientset) {
	t.Helper()
	c, err := New(example(), &Access{Config: &rest.Config{}}, zaptest.NewLogger(t))
	require.NoError(t, err)
	core := fake.NewClientset(e)
	c.core, c.ray = core, rayfake.NewClientset(standing...)
	c.inform()
	if s.Cluster != nil {
		s.Cluster.Namespace = c.cfg.Namespace
		require.NoError(t, c.rayFactory.Ray().V1().RayClusters().Informer().GetIndexer().Add(s.Cluster))
	}
	for _, p := range s.Pods {
		p.Namespace = c.cfg.Namespace
		require.NoError(t, c.coreFactory.Core().V1().Pods().Informer().GetIndexer().Add(p))
	}
	c.synced.Store(true)
	return c, core
}

func TestEventsAreLookedAtWhereSomethingIsMissing(t *testing.T) {
	t.Parallel()
	const quota = `pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`
	head := rayPod(rayv1.HeadNode, "head")
	worker := func(name string, set ...func(*corev1.Pod)) *corev1.Pod { return rayPod(rayv1.WorkerNode, name, set...) }
	for name, tc := range map[string]struct {
		pods  []*corev1.Pod
		want  string
		looks bool
	}{
		"all work":                        {[]*corev1.Pod{head, worker("1"), worker("2")}, "", false},
		"a worker is refused, others run": {[]*corev1.Pod{head, worker("1")}, `the quota "q" has no room for 1 pod (2 of 2 are in use)`, true},
		"its successor is refused":        {[]*corev1.Pod{head, worker("1"), worker("2", beingDeleted)}, `the quota "q" has no room for 1 pod`, true},
		"a worker is not ready":           {[]*corev1.Pod{head, worker("1"), worker("2", notReady)}, "1 of 2 workers is restarting", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := explain.Snapshot{Cluster: twoWorkers()}
			for _, p := range tc.pods {
				s.Pods = append(s.Pods, p.DeepCopy())
			}
			c, core := syncedClient(t, s, eventAbout("ft-abc-a1-x2x4z", string(utils.FailedToCreateWorkerPod), quota))
			text := c.snapshot(t.Context(), runningJob("ft-abc-a1-x2x4z")).Trouble()
			require.Contains(t, text, tc.want)
			require.Equal(t, tc.want == "", text == "")
			require.Equal(t, tc.looks, len(core.Actions()) > 0)
		})
	}
}

func TestAStandingClusterIsAskedFor(t *testing.T) {
	t.Parallel()
	const waits = `waiting for the standing Ray cluster "standing" to start the training program`
	standing := func(set func(*rayv1.RayCluster)) []runtime.Object {
		cluster := &rayv1.RayCluster{ObjectMeta: metav1.ObjectMeta{Name: "standing", Namespace: "research"}}
		set(cluster)
		return []runtime.Object{cluster}
	}
	for name, tc := range map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"it is not ready": {standing(func(*rayv1.RayCluster) {}), waits},
		"it is ready": {standing(func(c *rayv1.RayCluster) {
			c.Status.Conditions = []metav1.Condition{{Type: string(rayv1.HeadPodReady), Status: metav1.ConditionTrue}}
		}), waits},
		"it was suspended": {standing(func(c *rayv1.RayCluster) { c.Spec.Suspend = new(true) }), `"standing" is suspended`},
		"it is deleted": {standing(func(c *rayv1.RayCluster) {
			c.DeletionTimestamp, c.Finalizers = new(ago(time.Minute)), []string{"ray.io/gcs-ft-redis-cleanup-finalizer"}
		}), `"standing" does not exist`},
		"it is gone": {nil, `"standing" does not exist`},
		"its pods are refused": {standing(func(c *rayv1.RayCluster) {
			c.Status.Conditions = []metav1.Condition{{
				Type: string(rayv1.RayClusterReplicaFailure), Status: metav1.ConditionTrue, Reason: "FailedCreateHeadPod",
				Message: `pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`,
			}}
		}), `the quota "q" has no room for 1 pod`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rj := runningJob("standing")
			rj.Status.JobDeploymentStatus = rayv1.JobDeploymentStatusInitializing
			rj.Spec.ClusterSelector = map[string]string{utils.RayJobClusterSelectorKey: "standing"}
			c, _ := syncedClient(t, explain.Snapshot{}, eventAbout(rj.Name, string(utils.RayClusterNotFound), "a while ago"), tc.objects...)
			require.Contains(t, c.snapshot(t.Context(), rj).Waiting(), tc.want)
		})
	}
}
