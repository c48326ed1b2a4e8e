//go:build integration

package kuberay

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/cluster"
)

// The contract of all backends, with the real API server and the real operator.
func TestRealOperatorKeepsTheContract(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"a cluster for each attempt": func(*Config) {},
		"on a standing cluster":      func(c *Config) { c.Profiles = []Profile{{Name: "standing", Cluster: "standing"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, cluster.Shared(t))
			b.stand(t, "standing")
			const right = job.Secret("right")
			raytest.TestBackend(t, raytest.Fixture{
				Token: right, Python: "python", Timeout: wait, Lost: "deleted",
				Restart: func(t *testing.T) {
					t.Helper()
					require.NoError(t, b.client.ray.RayV1().RayJobs(b.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
				},
				Backend: func(t *testing.T, token job.Secret) rayjob.Backend {
					t.Helper()
					conf := b.plane.Config()
					if token != right {
						conf = rest.AnonymousClientConfig(conf)
						conf.BearerToken = token.Reveal()
					}
					return b.newClient(t, conf, change)
				},
			})
		})
	}
}
