//go:build integration

package helm

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay"
	"github.com/ncsa/clowder-ray/test/cluster"
)

// verbs are all that RBAC can give on objects.
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// rights asks the API server what the service's account may do.
type rights struct {
	plane   *cluster.Plane
	account string
}

func newRights(t *testing.T, ns string, values ...string) rights {
	t.Helper()
	plane := cluster.Shared(t)
	install(t, plane, ns, append(values, ownKinds...)...)
	return rights{plane, "system:serviceaccount:" + ns + ":" + fullName}
}

// may returns the verbs that are allowed on a resource, written group/resource/subresource; an empty namespace is all of them.
func (r rights) may(t *testing.T, resource, ns string) (allowed []string) {
	t.Helper()
	part := append(strings.Split(resource, "/"), "")
	for _, verb := range verbs {
		review, err := r.plane.Admin().AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: r.account, Groups: []string{"system:serviceaccounts", "system:authenticated"},
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Group: part[0], Resource: part[1], Subresource: part[2], Namespace: ns, Verb: verb,
				},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		if review.Status.Allowed {
			allowed = append(allowed, verb)
		}
	}
	return allowed
}

// TestTheServiceMayDoWhatItNeedsAndNothingElse has a row for each right and for those that would be worth stealing.
func TestTheServiceMayDoWhatItNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	ns := cluster.Shared(t).Namespace(t, nil)
	other := cluster.Shared(t).Namespace(t, nil)
	r := newRights(t, ns, least...)
	cases := map[string]string{ // group/resource/subresource: verbs
		"ray.io/rayjobs":     "get list watch create patch delete",
		"ray.io/rayclusters": "get list watch",
		"/pods":              "get list watch",
		"/events":            "list",
		"/secrets":           "get create patch delete",
		"/resourcequotas":    "list",

		"ray.io/rayjobs/status": "", "ray.io/rayservices": "", "kueue.x-k8s.io/workloads": "",
		"/pods/exec": "", "/pods/attach": "", "/pods/portforward": "", "/pods/log": "", "/pods/ephemeralcontainers": "", "/services": "", "/services/proxy": "", "/pods/proxy": "",
		"/configmaps": "", "/serviceaccounts": "", "/serviceaccounts/token": "", "/persistentvolumeclaims": "", "/persistentvolumes": "",
		"/nodes": "", "/nodes/proxy": "", "/namespaces": "", "apps/statefulsets": "", "apps/deployments": "", "batch/jobs": "",
		"rbac.authorization.k8s.io/roles": "", "rbac.authorization.k8s.io/rolebindings": "", "rbac.authorization.k8s.io/clusterroles": "",
		"networking.k8s.io/networkpolicies": "", "coordination.k8s.io/leases": "", "admissionregistration.k8s.io/mutatingwebhookconfigurations": "",
	}
	for resource, want := range cases {
		t.Run(strings.TrimPrefix(resource, "/"), func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, strings.Join(r.may(t, resource, ns), " "))
			require.Empty(t, r.may(t, resource, other), "in another namespace")
			require.Empty(t, r.may(t, resource, ""), "in all namespaces")
		})
	}
}

// TestRightsThatAreAskedFor: the queue where a profile has one, the size of the nodes where rbac.nodes is set.
func TestRightsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	ns := cluster.Shared(t).Namespace(t, nil)
	r := newRights(t, ns, "--values", "testdata/everything.yaml")
	require.Equal(t, []string{"list"}, r.may(t, "kueue.x-k8s.io/workloads", ns))
	require.Empty(t, r.may(t, "kueue.x-k8s.io/workloads", ""))
	require.Equal(t, []string{"list"}, r.may(t, "/nodes", ""))
}

// TestScriptsOnSeveralMachinesNeedPolicies: only there the service creates objects of the network.
func TestScriptsOnSeveralMachinesNeedPolicies(t *testing.T) {
	t.Parallel()
	ns := cluster.Shared(t).Namespace(t, nil)
	r := newRights(t, ns, append(least, "--set", "ray.script.maxNodes=2")...)
	require.Equal(t, []string{"get", "create", "patch", "delete"}, r.may(t, "networking.k8s.io/networkpolicies", ns))
	require.Empty(t, r.may(t, "networking.k8s.io/networkpolicies", ""))
}

// TestNobodyElseGetsRights: the account that pods have by themselves may do nothing, nor may that of the Ray pods.
func TestNobodyElseGetsRights(t *testing.T) {
	t.Parallel()
	ns := cluster.Shared(t).Namespace(t, nil)
	r := newRights(t, ns, "--values", "testdata/everything.yaml")
	for _, account := range []string{"default", "ray"} {
		r.account = "system:serviceaccount:" + ns + ":" + account
		for _, resource := range []string{"/secrets", "/pods", "ray.io/rayjobs", "/nodes"} {
			require.Empty(t, slices.Concat(r.may(t, resource, ns), r.may(t, resource, "")), "%s %s", account, resource)
		}
	}
}

// TestTheServiceIsContentWithItsRights lets the service itself look, with the account that the chart makes.
func TestTheServiceIsContentWithItsRights(t *testing.T) {
	t.Parallel()
	ns := cluster.Shared(t).Namespace(t, nil)
	r := newRights(t, ns, "--values", examples+"/cephfs.yaml")
	made, err := r.plane.Admin().CoreV1().ConfigMaps(ns).Get(t.Context(), fullName+"-kuberay", metav1.GetOptions{})
	require.NoError(t, err)
	cfg := readConfig(t, made)
	cfg.Mount = "/shared"
	access := &kuberay.Access{Config: r.plane.Config(), Namespace: ns, Inside: true}
	access.Config.Impersonate.UserName = r.account

	client, err := kuberay.New(cfg, access, zaptest.NewLogger(t))
	require.NoError(t, err)
	report, err := client.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, ns, report.Namespace)
	for _, text := range slices.Concat(report.Faults, report.Warnings) {
		require.NotContains(t, text, "may not", "a right is missing")
		require.NotContains(t, text, "could not be looked at", "a right is missing")
	}
}
