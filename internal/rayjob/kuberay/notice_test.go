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
)

// shown is a client whose copies hold what is in the scene, and the API server that it would ask for more.
func shown(t *testing.T, s scene, standing ...runtime.Object) (*Client, *fake.Clientset) {
	t.Helper()
	c, err := New(example(), &Access{Config: &rest.Config{}}, zaptest.NewLogger(t))
	require.NoError(t, err)
	core := fake.NewClientset()
	for i := range s.events {
		e := s.events[i]
		e.Name, e.Namespace = e.InvolvedObject.Name+e.Reason, c.cfg.Namespace
		require.NoError(t, core.Tracker().Add(&e))
	}
	c.core, c.ray = core, rayfake.NewClientset(standing...)
	c.inform()
	if s.cluster != nil {
		s.cluster.Namespace = c.cfg.Namespace
		require.NoError(t, c.rayFactory.Ray().V1().RayClusters().Informer().GetIndexer().Add(s.cluster))
	}
	for _, p := range s.pods {
		p.Namespace, p.Labels[labelRun], p.Labels[labelAttempt] = c.cfg.Namespace, "ft-abc", "1"
		require.NoError(t, c.coreFactory.Core().V1().Pods().Informer().GetIndexer().Add(p))
	}
	c.synced.Store(true)
	return c, core
}

// runs makes the job of the scene one that runs.
func runs(s scene) scene {
	s.job.Labels = map[string]string{labelRun: "ft-abc", labelAttempt: "1"}
	s.job.Status.JobDeploymentStatus = rayv1.JobDeploymentStatusRunning
	if s.cluster != nil {
		s.job.Status.RayClusterName = s.cluster.Name
	}
	return s
}

func TestEventsAreLookedAtWhereSomethingIsMissing(t *testing.T) {
	t.Parallel()
	const quota = `pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`
	refusedWorker := event("ft-abc-a1-x2x4z", string(utils.FailedToCreateWorkerPod), quota, time.Minute)
	for name, tc := range map[string]struct {
		pods  []*corev1.Pod
		want  string
		looks bool
	}{
		"all work":                        {[]*corev1.Pod{head(up), worker(1, up), worker(2, up)}, "", false},
		"a worker is refused, others run": {[]*corev1.Pod{head(up), worker(1, up)}, `the quota "q" has no room for 1 pod (2 of 2 are in use)`, true},
		"its successor is refused":        {[]*corev1.Pod{head(up), worker(1, up), worker(2, up, deleted)}, `the quota "q" has no room for 1 pod`, true},
		"a worker is not ready":           {[]*corev1.Pod{head(up), worker(1, up), worker(2)}, "1 of 2 workers is starting again", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := runs(newScene(2, tc.pods...))
			s.events = []corev1.Event{refusedWorker}
			c, core := shown(t, s)
			text := c.scene(t.Context(), s.job).trouble()
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
			c.DeletionTimestamp, c.Finalizers = new(before(time.Minute)), []string{"ray.io/gcs-ft-redis-cleanup-finalizer"}
		}), `"standing" is not there`},
		"it is gone": {nil, `"standing" is not there`},
		"its pods are refused": {standing(func(c *rayv1.RayCluster) {
			c.Status.Conditions = []metav1.Condition{{
				Type: string(rayv1.RayClusterReplicaFailure), Status: metav1.ConditionTrue, Reason: "FailedCreateHeadPod",
				Message: `pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`,
			}}
		}), `the quota "q" has no room for 1 pod`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(0)
			s.cluster = nil
			s.job.Spec.ClusterSelector = map[string]string{utils.RayJobClusterSelectorKey: "standing"}
			s.job.Status.RayClusterName = "standing"
			s.events = []corev1.Event{event(s.job.Name, string(utils.RayClusterNotFound), "a while ago", time.Minute)}
			c, _ := shown(t, s, tc.objects...)
			require.Contains(t, c.scene(t.Context(), s.job).waiting(), tc.want)
		})
	}
}
