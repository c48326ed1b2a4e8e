package kuberay

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/ncsa/clowder-ray/internal/job"
)

// allow answers what the service asks about its rights; denied are the pairs "verb resource" that it lacks.
func (s *apiServer) allow(denied ...string) {
	s.core.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create, _ := a.(clienttesting.CreateAction)
		review, _ := create.GetObject().(*authv1.SelfSubjectAccessReview)
		review.Status.Allowed = true
		for _, d := range denied {
			if at := review.Spec.ResourceAttributes; d == at.Verb+" "+at.Resource {
				review.Status.Allowed = false
			}
		}
		return true, review, nil
	})
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"disk": "ssd"}}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("100"),
		gpuResource: resource.MustParse("4"),
	}}}
}

// claim is the PersistentVolumeClaim of the shared volume.
func claim(phase corev1.PersistentVolumeClaimPhase, modes ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "shared", Namespace: "research"}, Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes},
		Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
	}
}

func TestCheckFindsNothingWrongWithAGoodCluster(t *testing.T) {
	t.Parallel()
	c := example()
	c.Owner = "store-1"
	ours, foreign := made(t, anAttempt(), c, 0), made(t, anAttempt(), c, 0)
	foreign.Name, foreign.Labels = "ft-foreign-a1", map[string]string{labelManager: manager, labelInstance: "clowder-ray", labelOwner: "store-2"}
	s := newAPIServer(t, c, ours, foreign, node("a"), node("b"), claim(corev1.ClaimBound, corev1.ReadWriteMany), standingCluster(""))
	s.allow()
	before := len(s.core.Actions())
	r, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Faults)
	require.Len(t, r.Warnings, 1, "the risk of a standing cluster")
	require.Contains(t, r.Warnings[0], "profile standing: on a standing Ray cluster, every training can read and change the files of all other trainings")
	require.Equal(t, 1, r.Running, "RayJobs of another service do not count")
	require.Equal(t, "research", r.Namespace)
	for _, a := range append(s.core.Actions()[before:], s.rays.Actions()...) {
		if a.GetVerb() != "list" && a.GetVerb() != "get" {
			require.Equal(t, "selfsubjectaccessreviews", a.GetResource().Resource, "a check creates nothing")
		}
	}
}

func TestCheckNamesEachRightThatIsMissing(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, example(), claim(corev1.ClaimBound, corev1.ReadWriteMany), standingCluster(""))
	s.allow("patch rayjobs", "create secrets", "list events")
	r, err := s.Check(t.Context())
	require.NoError(t, err)
	const remedy = " in research: grant its account the rights of the Helm chart's Role"
	require.Equal(t, []string{
		"the service is not allowed to patch rayjobs" + remedy, "the service is not allowed to list events" + remedy, "the service is not allowed to create secrets" + remedy,
	}, r.Faults)
}

func TestCheckJudgesTheSharedVolume(t *testing.T) {
	t.Parallel()
	const several, one = 2, 1
	for name, tc := range map[string]struct {
		claim          *corev1.PersistentVolumeClaim
		nodes          int
		fault, warning string
	}{
		"it can be written by all nodes":   {claim: claim(corev1.ClaimBound, corev1.ReadWriteMany), nodes: several},
		"it does not exist":                {nodes: several, fault: "claim: the PersistentVolumeClaim shared does not exist in research: create it or set another claim"},
		"it is read-only":                  {claim: claim(corev1.ClaimBound, corev1.ReadOnlyMany), nodes: one, fault: "is read-only, but trainings write to it: use a ReadWriteMany claim"},
		"one node of several can write":    {claim: claim(corev1.ClaimBound, corev1.ReadWriteOnce), nodes: several, fault: "is not ReadWriteMany, but the pods of a training run on several nodes"},
		"the only node can write":          {claim: claim(corev1.ClaimBound, corev1.ReadWriteOnce), nodes: one},
		"the number of nodes is not known": {claim: claim(corev1.ClaimBound, corev1.ReadWriteOnce), nodes: 0, fault: "is not ReadWriteMany"},
		"its volume is lost":               {claim: claim(corev1.ClaimLost, corev1.ReadWriteMany), nodes: several, fault: "the volume of shared is lost: restore it or set another claim"},
		"it has no volume yet":             {claim: claim(corev1.ClaimPending, corev1.ReadWriteMany), nodes: several, warning: "shared has no volume yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var objects []runtime.Object
			if tc.claim != nil {
				objects = append(objects, tc.claim)
			}
			for _, n := range []string{"a", "b"}[:tc.nodes] {
				objects = append(objects, node(n))
			}
			s := newAPIServer(t, example(), objects...)
			var r Report
			s.checkClaim(t.Context(), &r)
			requireFinding(t, tc.fault, r.Faults)
			requireFinding(t, tc.warning, r.Warnings)
		})
	}
	s := newAPIServer(t, example(), claim(corev1.ClaimBound, corev1.ReadWriteMany))
	s.answer("get", "persistentvolumeclaims", apierrors.NewForbidden(resourceOf("", "persistentvolumeclaims"), "shared", errors.New("no")))
	var r Report
	s.checkClaim(t.Context(), &r)
	require.Empty(t, r.Faults, "a claim that may not be read is no fault")
	requireFinding(t, "could not be read", r.Warnings)
}

// requireFinding checks that the only finding contains want; an empty want means no finding.
func requireFinding(t *testing.T, want string, found []string) {
	t.Helper()
	if want == "" {
		require.Empty(t, found)
		return
	}
	require.Len(t, found, 1)
	require.Contains(t, found[0], want)
}

func TestCheckSaysWhichProfileCannotStart(t *testing.T) {
	t.Parallel()
	c := example()
	c.Profiles[1].GPU = 16
	s := newAPIServer(t, c, node("a"), claim(corev1.ClaimBound, corev1.ReadWriteMany))
	s.allow()
	r, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Len(t, r.Faults, 2, "%v", r.Faults)
	require.Regexp(t, `^profile gpu: .*GPU`, r.Faults[0])
	require.Contains(t, r.Faults[1], "the profile standing uses the RayCluster standing, which does not exist")
}

func TestACheckThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	for name, request := range map[string][2]string{"RayJobs cannot be listed": {"list", "rayjobs"}, "rights cannot be asked for": {"create", "selfsubjectaccessreviews"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t, example())
			s.allow()
			s.answer(request[0], request[1], errors.New("connection refused"))
			_, err := s.Check(t.Context())
			requireKind(t, job.KindRetryable, err)
			require.ErrorContains(t, err, "in the namespace research: connection refused")
		})
	}
}
