package kuberay

import (
	"encoding/hex"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

func TestASubmittedAttemptIsOneRayJobWithItsOwnToken(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	a := anAttempt()
	h := s.submitted(t, a)
	require.Equal(t, rayjob.Handle{Backend: "kuberay", ID: a.Name(), Session: uid}, h)
	first := s.token(t, a.Name())
	token, err := hex.DecodeString(first.StringData[utils.RAY_AUTH_TOKEN_SECRET_KEY])
	require.NoError(t, err)
	require.Len(t, token, 32)
	require.Equal(t, uid, string(first.OwnerReferences[0].UID), "Kubernetes deletes the token after the RayJob")
	require.Equal(t, s.rayJob(t, a.Name()).Labels, first.Labels)

	require.Equal(t, h, s.submitted(t, a), "a second call adopts the RayJob")
	require.Equal(t, first.StringData, s.token(t, a.Name()).StringData, "pods may have started with this token")
	next := a
	next.Number++
	s.submitted(t, next)
	require.NotEqual(t, first.StringData, s.token(t, next.Name()).StringData, "no two attempts share a token")
}

func TestARayJobOfAnotherServiceIsNeverAdopted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rayv1.RayJob){
		"of another instance":     func(rj *rayv1.RayJob) { rj.Labels[labelInstance] = "other" },
		"of another run":          func(rj *rayv1.RayJob) { rj.Labels[labelRun] = "ft-other" },
		"of another attempt":      func(rj *rayv1.RayJob) { rj.Labels[labelAttempt] = "7" },
		"without labels":          func(rj *rayv1.RayJob) { rj.Labels = nil },
		"with another entrypoint": func(rj *rayv1.RayJob) { rj.Spec.Entrypoint = "python -c 1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			foreign := made(t, anAttempt(), example(), 0)
			change(foreign)
			s := newAPIServer(t, example(), foreign)
			_, err := s.Submit(t.Context(), anAttempt())
			requireKind(t, job.KindPermanent, err)
			require.ErrorContains(t, err, "already has another RayJob named "+foreign.Name)
			require.Nil(t, s.token(t, foreign.Name), "it gets no token of ours")
		})
	}
}

func TestASubmissionWaitsWhileAnEarlierRayJobIsDeleted(t *testing.T) {
	t.Parallel()
	old := made(t, anAttempt(), example(), 0)
	old.DeletionTimestamp, old.Finalizers = new(metav1.Now()), []string{utils.RayJobStopJobFinalizer}
	s := newAPIServer(t, example(), old)
	_, err := s.Submit(t.Context(), anAttempt())
	requireKind(t, job.KindLater, err)
	require.ErrorContains(t, err, "until an earlier RayJob of the same name is deleted")
}

// Kubernetes deletes what a RayJob owned at some time after the RayJob. A submission in between must not build on it.
func TestASubmissionReplacesWhatADeletedRayJobOwned(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, forScripts())
	a := aScript(2)
	s.submitted(t, a)
	old := s.token(t, a.Name())
	var deleted []string
	s.core.PrependReactor("delete", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deleted = append(deleted, action.GetResource().Resource)
		return false, nil, nil
	})
	require.NoError(t, s.rays.RayV1().RayJobs("research").Delete(t.Context(), a.Name(), metav1.DeleteOptions{}))
	s.submitted(t, a)
	require.Equal(t, []string{"secrets", "networkpolicies"}, deleted)
	require.NotEqual(t, old.StringData, s.token(t, a.Name()).StringData)
	require.NotEmpty(t, s.token(t, a.Name()).OwnerReferences)
	require.NotEmpty(t, s.policy(t, a.Name()).OwnerReferences)
	s.submitted(t, a)
	require.Len(t, deleted, 2, "the next call adopts the RayJob")
}

func TestASubmissionReplacesATokenThatKubernetesDeletesAtTheSameTime(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"get", "delete"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, example())
			a := anAttempt()
			s.submitted(t, a)
			old := s.token(t, a.Name())
			require.NoError(t, s.rays.RayV1().RayJobs("research").Delete(t.Context(), a.Name(), metav1.DeleteOptions{}))
			var once sync.Once
			s.core.PrependReactor(verb, "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
				var err error
				once.Do(func() {
					err = s.core.Tracker().Delete(resourceOf("", "secrets").WithVersion("v1"), "research", a.Name())
				})
				return false, nil, err
			})
			_, err := s.Submit(t.Context(), a)
			require.NoError(t, err)
			require.NotEqual(t, old.StringData, s.token(t, a.Name()).StringData)
		})
	}
}

func TestASubmissionKeepsTheTokenOfARayJobThatAnotherServiceHasJustCreated(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	a := anAttempt()
	s.submitted(t, a)
	token := s.token(t, a.Name())
	hidden := true
	s.rays.PrependReactor("get", "rayjobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		defer func() { hidden = false }()
		return hidden, nil, apierrors.NewNotFound(resourceOf("ray.io", "rayjobs"), a.Name()) // the first look was too early
	})
	_, err := s.Submit(t.Context(), a)
	requireKind(t, job.KindRetryable, err)
	require.ErrorContains(t, err, "another service has just created the RayJob")
	require.Equal(t, token, s.token(t, a.Name()))
	s.submitted(t, a)
}

func TestASubmissionThatMayNotReplaceAnOldTokenCreatesNoRayJob(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]string{"get": "not allowed to read a Secret", "delete": "not allowed to delete a Secret"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, example())
			a := anAttempt()
			s.submitted(t, a)
			require.NoError(t, s.rays.RayV1().RayJobs("research").Delete(t.Context(), a.Name(), metav1.DeleteOptions{}))
			s.answer(verb, "secrets", apierrors.NewForbidden(resourceOf("", "secrets"), "x", errors.New("no rights")))
			_, err := s.Submit(t.Context(), a)
			requireKind(t, job.KindLater, err)
			require.ErrorContains(t, err, want)
			require.Nil(t, s.rayJob(t, a.Name()))
		})
	}
}

func TestOfTwoSubmissionsAtTheSameTimeOneAdoptsTheRayJobOfTheOther(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example())
	a := anAttempt()
	rj := made(t, a, example(), 0)
	rj.UID = "of-the-other"
	s.rays.PrependReactor("create", "rayjobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		require.NoError(t, s.rays.Tracker().Add(rj)) // the other one was faster
		return true, nil, apierrors.NewAlreadyExists(resourceOf("ray.io", "rayjobs"), rj.Name)
	})
	require.Equal(t, "of-the-other", s.submitted(t, a).Session)
}

func TestASubmissionThatCannotStartCreatesNothing(t *testing.T) {
	t.Parallel()
	small := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourcePods: resource.MustParse("10"),
	}}}
	for name, tc := range map[string]struct {
		change func(*rayjob.Attempt)
		nodes  []runtime.Object
		kind   job.Kind
		want   string
	}{
		"an attempt that a shell could misread": {change: func(a *rayjob.Attempt) { a.Python = "python;id" }, kind: job.KindPermanent, want: "the Python interpreter"},
		"a profile that does not exist":         {change: func(a *rayjob.Attempt) { a.Resources.Profile = "huge" }, kind: job.KindPermanent, want: "choose one of small, gpu, standing"},
		"a run folder outside the volume":       {change: func(a *rayjob.Attempt) { a.Dir = "/elsewhere" }, kind: job.KindPermanent, want: "RAY_SHARED_DIR"},
		"nodes that are too small":              {change: func(*rayjob.Attempt) {}, nodes: []runtime.Object{small}, kind: job.KindPermanent, want: "memory"},
		"a standing cluster that does not exist": {
			change: func(a *rayjob.Attempt) { a.Resources.Profile = "standing" }, kind: job.KindLater, want: "uses the RayCluster standing, which does not exist in the namespace research: create it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, example(), tc.nodes...)
			a := anAttempt()
			tc.change(&a)
			_, err := s.Submit(t.Context(), a)
			requireKind(t, tc.kind, err)
			require.ErrorContains(t, err, tc.want)
			require.Nil(t, s.rayJob(t, a.Name()))
			require.Nil(t, s.token(t, a.Name()))
		})
	}
}

func TestARefusedStepOfASubmissionNamesItsRemedyAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	denied := func(resource string) error {
		return apierrors.NewForbidden(resourceOf("", resource), "x", errors.New("no rights"))
	}
	for name, tc := range map[string]struct {
		verb, resource string
		want           string
	}{
		"the RayJob cannot be read":     {"get", "rayjobs", "not allowed to look for a RayJob"},
		"the token cannot be created":   {"create", "secrets", "not allowed to create a Secret"},
		"the RayJob cannot be created":  {"create", "rayjobs", "not allowed to create a RayJob"},
		"the token cannot get an owner": {"patch", "secrets", "not allowed to change a Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, example())
			s.answer(tc.verb, tc.resource, denied(tc.resource))
			_, err := s.Submit(t.Context(), anAttempt())
			requireKind(t, job.KindLater, err)
			require.ErrorContains(t, err, tc.want+" in the namespace research: grant its account the rights of the Helm chart's Role")

			s.core.ReactionChain, s.rays.ReactionChain = s.core.ReactionChain[1:], s.rays.ReactionChain[1:]
			h := s.submitted(t, anAttempt())
			require.NotEmpty(t, s.token(t, h.ID).OwnerReferences, "the repetition completes what was missing")
		})
	}
}

func TestATokenThatWasDeletedIsNoErrorWhenARayJobIsAdopted(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example(), made(t, anAttempt(), example(), 0))
	h := s.submitted(t, anAttempt())
	require.Equal(t, anAttempt().Name(), h.ID)
	require.Nil(t, s.token(t, h.ID))
}

func TestRunsStartOnlyInTheWindowOfTheirProfile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight UTC
		c := example()
		c.Profiles[0].Window = &Window{From: "00:05", Until: "06:00"}
		s := &Client{cfg: c.withDefaults()}
		rj := made(t, anAttempt(), c, 0)
		wait := func() time.Duration {
			err := s.prepare(t.Context(), rj, s.cfg.Profiles[0])
			kind, after := job.Classify(err)
			require.Equal(t, job.KindLater, kind, "%v", err)
			require.ErrorContains(t, err, "waiting until 00:05, when runs with the profile small may start")
			_, isWait := errors.AsType[*rayjob.WaitError](err)
			require.True(t, isWait, "a user reads why the run waits")
			return after
		}
		require.Equal(t, 5*time.Minute, wait())
		<-time.After(4 * time.Minute)
		require.Equal(t, time.Minute, wait())
		<-time.After(6 * time.Hour)
		require.Equal(t, windowPause, wait(), "a long wait is checked now and then, since the settings may change")
	})
}
