//go:build integration

package cluster

import (
	"context"
	"net/http"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	rayclient "github.com/ray-project/kuberay/ray-operator/pkg/client/clientset/versioned"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// testTimeout is the longest that a step of the control plane may take on a busy machine.
const testTimeout = time.Minute

// setup is a namespace with an operator, a kubelet that is played, and a Ray that is played.
func setup(t *testing.T, ray raytest.Config) (plane *Plane, jobs func() (*rayv1.RayJob, error), operator *Operator) {
	t.Helper()
	plane = Shared(t)
	namespace := plane.Namespace(t, nil)
	server := raytest.NewServer(ray)
	t.Cleanup(server.Close)
	operator = plane.Operator(t, namespace, server)
	require.NoError(t, plane.PlayKubelet(t.Context(), namespace))

	client, err := rayclient.NewForConfig(plane.Config())
	require.NoError(t, err)
	_, err = client.RayV1().RayJobs(namespace).Create(t.Context(), rayJob(), metav1.CreateOptions{})
	require.NoError(t, err)
	return plane, func() (*rayv1.RayJob, error) {
		return client.RayV1().RayJobs(namespace).Get(t.Context(), "job", metav1.GetOptions{})
	}, operator
}

func rayJob() *rayv1.RayJob {
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "ray", Image: "ray"}}}}
	one := int32(1)
	return &rayv1.RayJob{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec: rayv1.RayJobSpec{
			SubmissionMode: rayv1.HTTPMode,
			Entrypoint:     "python -m trainer",
			RayClusterSpec: &rayv1.RayClusterSpec{
				RayVersion:    raytest.Version,
				HeadGroupSpec: rayv1.HeadGroupSpec{Template: pod},
				WorkerGroupSpecs: []rayv1.WorkerGroupSpec{
					{GroupName: "worker", Replicas: &one, MinReplicas: &one, MaxReplicas: &one, Template: pod},
				},
			},
		},
	}
}

func reaches(t *testing.T, get func() (*rayv1.RayJob, error), deployment rayv1.JobDeploymentStatus, status rayv1.JobStatus) {
	t.Helper()
	var job *rayv1.RayJob
	require.Eventually(t, func() bool {
		var err error
		job, err = get()
		require.NoError(t, err)
		return job.Status.JobDeploymentStatus == deployment && job.Status.JobStatus == status
	}, testTimeout, 50*time.Millisecond, "the RayJob never became %s/%s", deployment, status)
}

func TestRayJobRunsToItsEnd(t *testing.T) {
	end := make(chan struct{})
	_, job, _ := setup(t, raytest.Config{Run: func(ctx context.Context, _ raytest.Driver) int {
		select {
		case <-end:
			return 0
		case <-ctx.Done():
			return 1
		}
	}})
	reaches(t, job, rayv1.JobDeploymentStatusRunning, rayv1.JobStatusRunning)
	close(end)
	reaches(t, job, rayv1.JobDeploymentStatusComplete, rayv1.JobStatusSucceeded)
}

func TestOperatorThatWasDownSeesTheEnd(t *testing.T) {
	end := make(chan struct{})
	_, job, operator := setup(t, raytest.Config{Run: func(ctx context.Context, _ raytest.Driver) int {
		select {
		case <-end:
			return 3
		case <-ctx.Done():
			return 1
		}
	}})
	reaches(t, job, rayv1.JobDeploymentStatusRunning, rayv1.JobStatusRunning)
	operator.Kill()
	close(end)
	operator.Start(t)
	reaches(t, job, rayv1.JobDeploymentStatusFailed, rayv1.JobStatusFailed)
}

func TestKubeletDeletesPods(t *testing.T) {
	plane := Shared(t)
	namespace := plane.Namespace(t, nil)
	pods := plane.Admin().CoreV1().Pods(namespace)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, plane.PlayKubelet(ctx, namespace))

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		pod, err := pods.Get(t.Context(), "pod", metav1.GetOptions{})
		require.NoError(t, err)
		return pod.Status.Phase == corev1.PodRunning && pod.Status.PodIP != "" && pod.Spec.NodeName == NodeName
	}, testTimeout, 20*time.Millisecond)
	require.NoError(t, pods.Delete(t.Context(), "pod", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := pods.Get(t.Context(), "pod", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, testTimeout, 20*time.Millisecond)
}

func TestControllersDeleteWhatBelongsToAnObject(t *testing.T) {
	plane := Shared(t)
	plane.Controllers(t)
	namespace := plane.Namespace(t, nil)
	maps := plane.Admin().CoreV1().ConfigMaps(namespace)
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "owned", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, maps.Delete(t.Context(), "owner", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := maps.Get(t.Context(), "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, testTimeout, 50*time.Millisecond)
}

func TestUserMayDoWhatRBACAllows(t *testing.T) {
	plane := Shared(t)
	namespace := plane.Namespace(t, nil)
	_, err := plane.Admin().RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = plane.Admin().RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "readers"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "readers"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	config, err := plane.UserConfig("somebody", "readers")
	require.NoError(t, err)
	user, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)

	may := func(verb string) bool {
		review, err := user.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: verb, Resource: "pods",
			}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		return review.Status.Allowed
	}
	require.Eventually(t, func() bool { return may("list") }, testTimeout, 20*time.Millisecond)
	require.False(t, may("delete"))
}

func TestAPIServerGoesAndComesBack(t *testing.T) {
	plane := Control(t)
	config, err := plane.UserConfig("administrator", "system:masters")
	require.NoError(t, err)
	user, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	namespace := plane.Namespace(t, nil)

	require.NoError(t, plane.StopAPI(t.Context()))
	_, err = plane.Admin().CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	require.ErrorContains(t, err, "refused")

	require.NoError(t, plane.StartAPI())
	for name, client := range map[string]kubernetes.Interface{"the administrator": plane.Admin(), "another user": user} {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		require.NoError(t, err, name)
	}
}

func TestOperatorAsksTheDashboardByName(t *testing.T) {
	hosts := make(chan string, 100)
	server := raytest.NewServer(raytest.Config{})
	t.Cleanup(server.Close)
	plane := Shared(t)
	namespace := plane.Namespace(t, nil)
	plane.Operator(t, namespace, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case hosts <- r.Host:
		default:
		}
		server.ServeHTTP(w, r)
	}))
	require.NoError(t, plane.PlayKubelet(t.Context(), namespace))
	client, err := rayclient.NewForConfig(plane.Config())
	require.NoError(t, err)
	_, err = client.RayV1().RayJobs(namespace).Create(t.Context(), rayJob(), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Regexp(t, `^job-[a-z0-9]+-head-svc\.`+namespace+`\.svc\.cluster\.local:8265$`, <-hosts)
}
