//go:build integration

package kuberay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/cluster"
)

func TestRayJobDeletedByHand(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	a := b.attempt(t, raytest.Spec{Wait: true})
	h := b.submit(t, a)
	b.started(t, a)
	require.NoError(t, b.client.ray.RayV1().RayJobs(b.namespace).Delete(t.Context(), h.ID, metav1.DeleteOptions{}))
	require.Contains(t, b.until(t, h, rayjob.Lost).Reason, "deleted")
	again := b.submit(t, a)
	require.NotEqual(t, h.Session, again.Session)
	require.Equal(t, rayjob.Lost, b.until(t, h, rayjob.Lost).Verdict, "the old handle does not see the new RayJob")
	b.until(t, again, rayjob.Running)
	b.release(t, again)
}

func TestOperatorIsAwayWhenTheTrainingEnds(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	ends := make(chan struct{})
	b.heads.cfg.Run = func(ctx context.Context, d raytest.Driver) int {
		code := raytest.Program(ctx, d)
		select {
		case <-ends:
		case <-ctx.Done():
		}
		return code
	}
	a := b.attempt(t, raytest.Spec{})
	h := b.submit(t, a)
	b.until(t, h, rayjob.Running)
	b.operator.Kill()
	close(ends)
	require.Never(t, func() bool {
		obs, err := b.client.Observe(t.Context(), h, time.Hour)
		return err != nil || obs.Verdict != rayjob.Running
	}, 2*time.Second, 100*time.Millisecond)
	b.operator.Start(t)
	b.until(t, h, rayjob.Succeeded)
	starts, err := os.ReadFile(filepath.Join(a.Dir, "starts"))
	require.NoError(t, err)
	require.Equal(t, "started\n", string(starts), "it was run once")
	b.release(t, h)
}

func TestOperatorIsAwayWhenAnAttemptIsReleased(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	a := b.attempt(t, raytest.Spec{Wait: true})
	h := b.submit(t, a)
	b.started(t, a)
	b.until(t, h, rayjob.Running)
	b.operator.Kill()
	b.release(t, h)
	require.True(t, exists(a, "stopped"), "the training was asked to end although the operator could not ask")
	rj := b.rayJob(t, h.ID)
	require.NotNil(t, rj.DeletionTimestamp)
	require.NotEmpty(t, rj.Finalizers)

	b.client.freeStuck(t.Context())
	b.rayJob(t, h.ID) // the operator still has time
	b.client.stuckAfter = 0
	require.Eventually(t, func() bool {
		b.client.freeStuck(t.Context())
		_, err := b.client.live(t.Context(), h.ID)
		return missing(err)
	}, wait, 100*time.Millisecond)
}

func TestAPIServerIsAway(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Control(t))
	a := b.attempt(t, raytest.Spec{Wait: true})
	h := b.submit(t, a)
	b.started(t, a)
	b.until(t, h, rayjob.Running)
	require.Eventually(t, b.client.synced.Load, wait, 10*time.Millisecond, "there is a copy to look at")

	require.NoError(t, b.plane.StopAPI(t.Context()))
	obs, err := b.client.Observe(t.Context(), h, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Running, obs.Verdict, "nothing is concluded from silence")
	_, err = b.client.Submit(t.Context(), b.attempt(t, raytest.Spec{}))
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind, "%v", err)
	require.Error(t, b.client.Stop(t.Context(), h))
	require.NoError(t, b.plane.StartAPI())

	require.Eventually(t, func() bool { return b.client.Stop(t.Context(), h) == nil }, 2*wait, time.Second)
	require.Eventually(t, func() bool {
		obs, err := b.client.Observe(t.Context(), h, time.Hour)
		return err == nil && obs.Verdict == rayjob.Stopped
	}, 2*wait, 100*time.Millisecond)

	// Without the definitions of KubeRay there is nothing to submit.
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	require.NoError(t, b.client.any.Resource(definitions).Delete(t.Context(), "rayjobs.ray.io", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := b.client.Submit(t.Context(), b.attempt(t, raytest.Spec{}))
		setting, ok := errors.AsType[*rayjob.SettingError](err)
		return ok && strings.Contains(setting.Text, "install the KubeRay operator")
	}, wait, 200*time.Millisecond)
}

// goneOnce answers the first watches as an API server does that has forgotten where they were.
type goneOnce struct {
	next http.RoundTripper
	left *atomic.Int32
}

const goneEvent = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version","reason":"Expired","code":410}}` + "\n"

func (g goneOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "" || g.left.Add(-1) < 0 {
		return g.next.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(goneEvent)),
	}, nil
}

func TestWatchIsBroken(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	conf := b.plane.Config()
	conf.ContentType = "application/json"
	left := &atomic.Int32{}
	left.Store(6)
	conf.Wrap(func(next http.RoundTripper) http.RoundTripper { return goneOnce{next, left} })
	b.client = b.newClient(t, conf)
	a := b.attempt(t, raytest.Spec{})
	h := b.submit(t, a)
	b.until(t, h, rayjob.Succeeded)
	require.Negative(t, left.Load())
	b.release(t, h)
}

func TestSubmissionsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	nobody, err := b.plane.UserConfig("nobody")
	require.NoError(t, err)
	setting := func(t *testing.T, err error, words string) {
		t.Helper()
		fault, ok := errors.AsType[*rayjob.SettingError](err)
		require.True(t, ok, "%v", err)
		require.Contains(t, fault.Text, words)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindLater, kind)
	}
	_, err = b.newClient(t, nobody).Submit(t.Context(), b.attempt(t, raytest.Spec{}))
	setting(t, err, "is not allowed to look for a RayJob")
	_, err = b.newClient(t, b.plane.Config(), func(c *Config) { c.Namespace = "nowhere" }).Submit(t.Context(), b.attempt(t, raytest.Spec{}))
	setting(t, err, "the namespace nowhere does not exist")
	onStanding := b.attempt(t, raytest.Spec{})
	onStanding.Resources.Profile = "standing"
	_, err = b.client.Submit(t.Context(), onStanding)
	setting(t, err, "uses the RayCluster standing")

	t.Run("a quota that is full", func(t *testing.T) {
		api := b.client.core.CoreV1().ResourceQuotas(b.namespace)
		hard := corev1.ResourceList{"count/rayjobs.ray.io": resource.MustParse("0")}
		quota, err := api.Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{})
		require.NoError(t, err)
		quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{"count/rayjobs.ray.io": resource.MustParse("0")}}
		_, err = api.UpdateStatus(t.Context(), quota, metav1.UpdateOptions{}) // the controller's part
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			_, err = b.client.Submit(t.Context(), b.attempt(t, raytest.Spec{}))
			_, waits := errors.AsType[*rayjob.WaitError](err)
			return waits
		}, wait, 100*time.Millisecond)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindLater, kind)
		require.NoError(t, api.Delete(t.Context(), "full", metav1.DeleteOptions{}))
	})
	t.Run("a policy", func(t *testing.T) {
		b.forbid(t)
		require.Eventually(t, func() bool {
			_, err = b.client.Submit(t.Context(), b.attempt(t, raytest.Spec{}))
			kind, _ := job.Classify(err)
			return kind == job.KindPermanent
		}, wait, 100*time.Millisecond)
		require.ErrorContains(t, err, "a policy of the Kubernetes cluster denies the training")
		require.ErrorContains(t, err, "no trainings on Sundays")
	})
}

// forbid makes the API server refuse RayJobs in the namespace.
func (b *fixture) forbid(t *testing.T) {
	t.Helper()
	api, name := b.client.core.AdmissionregistrationV1(), b.namespace
	_, err := api.ValidatingAdmissionPolicies().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{"ray.io"}, APIVersions: []string{"*"}, Resources: []string{"rayjobs"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "no trainings on Sundays"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = api.ValidatingAdmissionPolicyBindings().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": name}}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	check := func() Report {
		r, err := b.client.Check(t.Context())
		require.NoError(t, err)
		return r
	}
	require.Contains(t, strings.Join(check().Faults, "\n"), "the PersistentVolumeClaim shared does not exist")
	require.Contains(t, strings.Join(check().Faults, "\n"), "uses the RayCluster standing")
	require.Contains(t, check().Warnings, "profile standing: "+rayjob.StandingWarning)

	claims := b.client.core.CoreV1().PersistentVolumeClaims(b.namespace)
	for mode, want := range map[corev1.PersistentVolumeAccessMode]string{
		corev1.ReadOnlyMany: "is read-only", corev1.ReadWriteOnce: "is not ReadWriteMany", corev1.ReadWriteMany: "",
	} {
		_, err := claims.Create(t.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "shared"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{mode}, StorageClassName: new("none"),
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		faults := strings.Join(check().Faults, "\n")
		if want != "" {
			require.Contains(t, faults, want)
		} else {
			require.NotContains(t, faults, "claim")
		}
		require.NoError(t, claims.Delete(t.Context(), "shared", metav1.DeleteOptions{}))
		require.Eventually(t, func() bool { // a protected claim goes a moment later
			claim, err := claims.Get(t.Context(), "shared", metav1.GetOptions{})
			if err == nil && len(claim.Finalizers) > 0 {
				claim.Finalizers = nil
				_, _ = claims.Update(t.Context(), claim, metav1.UpdateOptions{})
			}
			return err != nil
		}, wait, 50*time.Millisecond)
	}

	view, err := b.plane.UserConfig("viewer", "system:authenticated")
	require.NoError(t, err)
	_, err = b.newClient(t, view).Check(t.Context())
	_, ok := errors.AsType[*rayjob.SettingError](err)
	require.True(t, ok, "%v", err)
}
