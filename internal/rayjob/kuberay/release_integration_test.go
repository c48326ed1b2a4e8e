//go:build integration

package kuberay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/cluster"
)

func TestNothingOfAnAttemptStays(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	b.plane.Controllers(t)
	a := b.attempt(t, raytest.Spec{})
	h := b.submit(t, a)
	rj := b.rayJob(t, h.ID)
	secret, err := b.client.core.CoreV1().Secrets(b.namespace).Get(t.Context(), h.ID, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, rj.UID, secret.OwnerReferences[0].UID)
	b.until(t, h, rayjob.Succeeded)
	require.True(t, b.heads.saw(string(secret.Data["auth_token"])), "the operator uses the token of the attempt")

	again, err := b.client.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []rayjob.Handle{h}, again)
	others, err := b.newClient(t, b.plane.Config(), func(c *Config) { c.Owner = "another-store" }).List(t.Context())
	require.NoError(t, err)
	require.Empty(t, others)
	b.release(t, h)
	b.gone(t, h)
	require.Eventually(t, func() bool {
		clusters, err := b.client.ray.RayV1().RayClusters(b.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		pods, err := b.client.core.CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		secrets, err := b.client.core.CoreV1().Secrets(b.namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		return len(clusters.Items)+len(pods.Items)+len(secrets.Items) == 0
	}, wait, 100*time.Millisecond)
}

// A service that was killed between the submission and its record knows no more than the name.
func TestNameIsEnoughToRelease(t *testing.T) {
	t.Parallel()
	b := newFixture(t, cluster.Shared(t))
	b.stand(t, "standing")
	for name, spec := range map[string]raytest.Spec{"while it runs": {Wait: true}, "when it has ended": {}} {
		t.Run(name, func(t *testing.T) {
			a := b.attempt(t, spec)
			a.Resources.Profile = "standing"
			h := b.submit(t, a)
			require.Equal(t, "standing", h.Cluster)
			b.started(t, a)
			if !spec.Wait {
				b.until(t, h, rayjob.Succeeded)
			}
			b.release(t, rayjob.Handle{ID: h.ID})
			b.gone(t, h)
			require.Equal(t, spec.Wait, exists(a, "stopped"))
			ray, err := b.client.standingDashboard(t.Context(), "standing")
			require.NoError(t, err)
			obs, err := ray.Observe(t.Context(), rayjob.Handle{ID: h.ID}, time.Hour)
			require.NoError(t, err)
			require.Equal(t, rayjob.Lost, obs.Verdict, "Ray has no entry any more")
		})
	}
}
