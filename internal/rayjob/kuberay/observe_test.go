package kuberay

import (
	"errors"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

func TestAnObservationConcludesNothingFromSilence(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	lost, err := s.Observe(t.Context(), rayjob.Handle{ID: "ft-never-a1"}, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Observation{Verdict: rayjob.Lost, Reason: "the RayJob of the training was deleted in the Kubernetes cluster"}, lost)

	h := s.submitted(t, anAttempt())
	obs, err := s.Observe(t.Context(), h, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Pending, obs.Verdict)
	require.NotEmpty(t, obs.Notice)
	h.Session = "of an earlier RayJob"
	obs, err = s.Observe(t.Context(), h, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Lost, obs.Verdict)
	require.Contains(t, obs.Reason, "was replaced by another RayJob of the same name")

	s.answer("get", "rayjobs", errors.New("connection refused"))
	_, err = s.Observe(t.Context(), h, time.Hour)
	requireKind(t, job.KindRetryable, err)
}

func TestACachedRayJobIsObservedWithoutARequest(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	rj := made(t, anAttempt(), example(), 0)
	rj.CreationTimestamp = ago(time.Second)
	rj.Status.JobDeploymentStatus, rj.Status.JobStatus = rayv1.JobDeploymentStatusComplete, rayv1.JobStatusSucceeded
	require.NoError(t, s.rayFactory.Ray().V1().RayJobs().Informer().GetIndexer().Add(rj))
	s.synced.Store(true)
	obs, err := s.Observe(t.Context(), rayjob.Handle{ID: rj.Name}, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Observation{Verdict: rayjob.Succeeded}, obs)
	require.Empty(t, s.rays.Actions())
}

func TestAnUnknownStatusKeepsTheTrainingRunning(t *testing.T) {
	t.Parallel()
	rj := made(t, anAttempt(), example(), 0)
	rj.Status.JobDeploymentStatus, rj.Status.JobStatus = "Hibernating", rayv1.JobStatusFailed
	s := newAPIServer(t, example(), rj)
	obs, err := s.Observe(t.Context(), rayjob.Handle{ID: rj.Name}, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Running, obs.Verdict)
	require.False(t, s.warned.First("Hibernating/FAILED/"), "the log has named it once")
}

func TestAServiceListsOnlyTheRayJobsOfItsStore(t *testing.T) {
	t.Parallel()
	c := example()
	c.Owner = "store-1"
	ours := made(t, anAttempt(), c, 0)
	var all []*rayv1.RayJob
	for name, change := range map[string]func(map[string]string){
		"of-another-store":    func(l map[string]string) { l[labelOwner] = "store-2" },
		"of-no-store":         func(l map[string]string) { delete(l, labelOwner) },
		"of-another-instance": func(l map[string]string) { l[labelInstance] = "other" },
		"of-another-program":  func(l map[string]string) { l[labelManager] = "kueue" },
	} {
		rj := ours.DeepCopy()
		rj.Name = name
		change(rj.Labels)
		all = append(all, rj)
	}
	s := newAPIServer(t, c, ours, all[0], all[1], all[2], all[3])
	handles, err := s.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []rayjob.Handle{{Backend: "kuberay", ID: ours.Name}}, handles)
	s.answer("list", "rayjobs", errors.New("connection refused"))
	_, err = s.List(t.Context())
	requireKind(t, job.KindRetryable, err)
}

func TestCachedObjectsKeepWhatIsJudgedAndDropTheRest(t *testing.T) {
	t.Parallel()
	rj := made(t, anAttempt(), example(), 0)
	rj.Status.JobDeploymentStatus, rj.Finalizers = rayv1.JobDeploymentStatusRunning, []string{"x"}
	template := rj.Spec.RayClusterSpec.DeepCopy()
	cluster := &rayv1.RayCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{"a": "b"}}, Spec: *template}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", ManagedFields: []metav1.ManagedFieldsEntry{{}}}, Spec: template.HeadGroupSpec.Template.Spec}
	for _, object := range []any{rj, cluster, pod} {
		kept, err := trim(object)
		require.NoError(t, err)
		require.Equal(t, object, kept)
	}
	require.Nil(t, rj.Spec.RayClusterSpec)
	require.NotEmpty(t, rj.Spec.Entrypoint, "adoption compares it")
	require.Equal(t, []string{"x"}, rj.Finalizers)
	require.Equal(t, rayv1.JobDeploymentStatusRunning, rj.Status.JobDeploymentStatus)
	worker := cluster.Spec.WorkerGroupSpecs[0].Template.Spec.Containers[0]
	require.Empty(t, worker.Env)
	require.Equal(t, "4Gi", worker.Resources.Limits.Memory().String(), "an explanation names the resources")
	require.Empty(t, cluster.Annotations)
	require.Empty(t, pod.ManagedFields)
	require.Empty(t, pod.Spec.Volumes)
	unknown, err := trim("a text")
	require.NoError(t, err)
	require.Equal(t, "a text", unknown)
}
