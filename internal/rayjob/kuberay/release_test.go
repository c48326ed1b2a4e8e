package kuberay

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func TestStoppingWhatDoesNotRunNeedsNoRay(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	require.NoError(t, s.Stop(t.Context(), rayjob.Handle{ID: "ft-never-a1"}), "an attempt that does not exist has stopped")
	h := s.submitted(t, anAttempt())
	requireKind(t, job.KindLater, s.Stop(t.Context(), h))
	require.Nil(t, s.rayJob(t, h.ID), "a training without a cluster ends with its RayJob")
	require.NoError(t, s.Stop(t.Context(), h))
}

func TestStoppingAnEndedTrainingKeepsItsOutput(t *testing.T) {
	t.Parallel()
	for _, status := range []rayv1.JobDeploymentStatus{rayv1.JobDeploymentStatusComplete, rayv1.JobDeploymentStatusFailed} {
		ended := made(t, anAttempt(), example(), 0)
		ended.Status.JobDeploymentStatus = status
		s := newAPIServer(t, example(), ended)
		require.NoError(t, s.Stop(t.Context(), rayjob.Handle{ID: ended.Name}))
		require.NotNil(t, s.rayJob(t, ended.Name), "the logs are still needed")
	}
}

func TestARunningTrainingIsAskedToStopAndHasTimeToDoSo(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	h := s.submitted(t, anAttempt())
	s.starts(t, h.ID)
	requireKind(t, job.KindLater, s.Stop(t.Context(), h))
	require.Equal(t, 1, s.dashboard.Requests(http.MethodPost, "/api/jobs/{id}/stop"))
	require.NotNil(t, s.rayJob(t, h.ID), "KubeRay has to see how the training ended")
}

func TestReleaseDeletesTheRayJobOfARunningTraining(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	h := s.submitted(t, anAttempt())
	s.starts(t, h.ID)
	require.NoError(t, s.Release(t.Context(), h))
	require.Equal(t, 1, s.dashboard.Requests(http.MethodPost, "/api/jobs/{id}/stop"), "it is asked to stop first")
	require.Nil(t, s.rayJob(t, h.ID))
	require.NoError(t, s.Release(t.Context(), h), "releasing twice is no error")
	require.NoError(t, s.Release(t.Context(), rayjob.Handle{ID: h.ID}), "the name alone is enough")
	require.Nil(t, s.token(t, h.ID), "a token without a RayJob is deleted")
}

func TestAClusterThatDoesNotRespondIsDeletedAnyway(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, s *apiServer, h rayjob.Handle){
		"its dashboard fails": func(t *testing.T, s *apiServer, _ rayjob.Handle) {
			t.Helper()
			s.dashboard.Fault(100, http.MethodPost, "/api/jobs/{id}/stop", raytest.Answer(http.StatusInternalServerError, "broken"))
		},
		"its token is gone": func(t *testing.T, s *apiServer, h rayjob.Handle) {
			t.Helper()
			require.NoError(t, s.core.CoreV1().Secrets("research").Delete(t.Context(), h.ID, metav1.DeleteOptions{}))
		},
		"its cluster is gone": func(t *testing.T, s *apiServer, _ rayjob.Handle) {
			t.Helper()
			require.NoError(t, s.rays.RayV1().RayClusters("research").Delete(t.Context(), "x2x4z", metav1.DeleteOptions{}))
		},
		"its address is damaged": func(t *testing.T, s *apiServer, h rayjob.Handle) {
			t.Helper()
			rj := s.rayJob(t, h.ID)
			rj.Status.DashboardURL = "no address"
			_, err := s.rays.RayV1().RayJobs("research").UpdateStatus(t.Context(), rj, metav1.UpdateOptions{})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, example())
			h := s.submitted(t, anAttempt())
			s.starts(t, h.ID)
			damage(t, s, h)
			require.NoError(t, s.Release(t.Context(), h))
			require.Nil(t, s.rayJob(t, h.ID))
		})
	}
}

func TestATrainingMayTakeOnlySoLongToStop(t *testing.T) {
	t.Parallel()
	c := &Client{stopping: map[string]time.Time{}}
	require.True(t, c.mayStillStop("ft-one-a1"))
	require.True(t, c.mayStillStop("ft-one-a1"))
	c.stopping["ft-one-a1"] = time.Now().Add(-stopTimeout)
	require.False(t, c.mayStillStop("ft-one-a1"), "then its cluster is deleted")
	require.True(t, c.mayStillStop("ft-two-a1"), "each attempt has its own time")
	c.forget("ft-one-a1")
	require.True(t, c.mayStillStop("ft-one-a1"))
}

// standingCluster is a RayCluster that requires the token of the named Secret; none without a name.
func standingCluster(secret string) *rayv1.RayCluster {
	cluster := &rayv1.RayCluster{ObjectMeta: metav1.ObjectMeta{Name: "standing", Namespace: "research"}}
	if secret != "" {
		cluster.Spec.AuthOptions = &rayv1.AuthOptions{Mode: rayv1.AuthModeToken, SecretName: &secret}
	}
	return cluster
}

func TestAnAttemptOnAStandingClusterLeavesNoEntry(t *testing.T) {
	t.Parallel()
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key", Namespace: "research"}, Data: map[string][]byte{utils.RAY_AUTH_TOKEN_SECRET_KEY: []byte("secret\n")}}
	s := newAPIServer(t, example(), standingCluster("key"), token)
	a := anAttempt()
	a.Resources.Profile = "standing"
	s.runs(t, a.Name()) // an old entry that lost its RayJob
	h := s.submitted(t, a)
	require.Equal(t, "standing", h.Cluster)
	require.Empty(t, s.dashboard.Jobs(), "KubeRay would take the old entry for the new attempt")
	require.Nil(t, s.token(t, a.Name()), "a standing cluster has its own token")

	s.runs(t, a.Name())
	requireKind(t, job.KindLater, s.Release(t.Context(), h))
	require.Nil(t, s.rayJob(t, h.ID))
	require.Len(t, s.dashboard.Jobs(), 1, "KubeRay would restart a job that Ray does not know")
	require.NoError(t, s.Release(t.Context(), rayjob.Handle{ID: h.ID}), "the RayJob is gone, so all standing clusters are checked")
	require.Empty(t, s.dashboard.Jobs())
}

func TestAReleaseAfterTheStandingClusterIsGoneSucceeds(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	require.NoError(t, s.Release(t.Context(), rayjob.Handle{ID: "ft-one-a1", Cluster: "standing", Session: "x"}))
	require.NoError(t, s.Release(t.Context(), rayjob.Handle{ID: "ft-one-a1"}))
}

func TestAReleaseThatIsRefusedIsAnErrorAndNotForgotten(t *testing.T) {
	t.Parallel()
	down := apierrors.NewServiceUnavailable("etcd is down")
	for name, request := range map[string][2]string{"the RayJob cannot be read": {"get", "rayjobs"}, "the RayJob cannot be deleted": {"delete", "rayjobs"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, example())
			h := s.submitted(t, anAttempt())
			s.answer(request[0], request[1], down)
			requireKind(t, job.KindRetryable, s.Release(t.Context(), h))
			s.core.ReactionChain, s.rays.ReactionChain = s.core.ReactionChain[1:], s.rays.ReactionChain[1:]
			require.NotNil(t, s.rayJob(t, h.ID))
			require.NoError(t, s.Release(t.Context(), h))
			require.Nil(t, s.rayJob(t, h.ID))
		})
	}
}

func TestTheOutputOfATrainingIsReadWhileItsClusterLives(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	var out bytes.Buffer
	require.ErrorIs(t, s.Logs(t.Context(), rayjob.Handle{ID: "ft-never-a1"}, &out), rayjob.ErrNoLogs)
	h := s.submitted(t, anAttempt())
	require.ErrorIs(t, s.Logs(t.Context(), h, &out), rayjob.ErrNoLogs, "it has no cluster yet")
	s.starts(t, h.ID)
	require.NoError(t, s.Logs(t.Context(), h, &out))
	require.NoError(t, s.rays.RayV1().RayClusters("research").Delete(t.Context(), "x2x4z", metav1.DeleteOptions{}))
	err := s.Logs(t.Context(), h, &out)
	require.ErrorIs(t, err, rayjob.ErrNoLogs)
	requireKind(t, job.KindPermanent, err)
	s.answer("get", "rayjobs", errors.New("connection refused"))
	requireKind(t, job.KindRetryable, s.Logs(t.Context(), h, &out))
}

func TestOnlyAFinalizerOfKubeRayThatIsOverdueIsRemoved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		deleted    *metav1.Time
		finalizers []string
		want       []string
	}{
		"not deleted":              {nil, []string{utils.RayJobStopJobFinalizer}, []string{utils.RayJobStopJobFinalizer}},
		"deleted just now":         {new(ago(time.Minute)), []string{utils.RayJobStopJobFinalizer}, []string{utils.RayJobStopJobFinalizer}},
		"deleted long ago":         {new(ago(time.Hour)), []string{"other.org/x", utils.RayJobStopJobFinalizer}, []string{"other.org/x"}},
		"held by somebody else":    {new(ago(time.Hour)), []string{"other.org/x"}, []string{"other.org/x"}},
		"deleted in the future":    {new(ago(-time.Hour)), []string{utils.RayJobStopJobFinalizer}, []string{utils.RayJobStopJobFinalizer}},
		"deleted at the exact age": {new(ago(stuckAfter)), []string{utils.RayJobStopJobFinalizer, "other.org/x"}, []string{"other.org/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rj := made(t, anAttempt(), example(), 0)
			rj.DeletionTimestamp, rj.Finalizers = tc.deleted, tc.finalizers
			s := newAPIServer(t, example(), rj)
			require.NoError(t, s.rayFactory.Ray().V1().RayJobs().Informer().GetIndexer().Add(rj))
			s.freeStuck(t.Context())
			require.Equal(t, tc.want, s.rayJob(t, rj.Name).Finalizers)
		})
	}
}
