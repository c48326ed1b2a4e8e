package kuberay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	rayfake "github.com/ray-project/kuberay/ray-operator/pkg/client/clientset/versioned/fake"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// apiServer is a client with an API server in memory and one Ray dashboard, which all clusters share.
type apiServer struct {
	*Client
	core      *fake.Clientset
	rays      *rayfake.Clientset
	dashboard *raytest.Server
}

// uid is the UID of all RayJobs that this API server creates.
const uid = "11112222-3333-4444-5555-666677778888"

func newAPIServer(t *testing.T, cfg Config, objects ...runtime.Object) *apiServer {
	t.Helper()
	s := &apiServer{dashboard: raytest.NewServer(raytest.Config{Run: func(ctx context.Context, _ raytest.Driver) int {
		<-ctx.Done()
		return 1
	}})}
	t.Cleanup(s.dashboard.Close)
	var err error
	s.Client, err = New(cfg, &Access{Config: &rest.Config{}, Inside: true, Dashboards: s}, zaptest.NewLogger(t))
	require.NoError(t, err)
	var core, rays []runtime.Object
	for _, o := range objects {
		switch o.(type) {
		case *rayv1.RayJob, *rayv1.RayCluster:
			rays = append(rays, o)
		default:
			core = append(core, o)
		}
	}
	s.core = fake.NewClientset(core...)
	s.rays = rayfake.NewSimpleClientset(rays...) //nolint:staticcheck // the other constructor has no schema of RayJobs, and so it cannot create one
	s.rays.PrependReactor("create", "rayjobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if create, ok := a.(clienttesting.CreateAction); ok {
			if rj, ok := create.GetObject().(*rayv1.RayJob); ok {
				rj.UID = uid
			}
		}
		return false, nil, nil
	})
	s.Client.core, s.ray = s.core, s.rays
	s.inform()
	return s
}

// RoundTrip implements http.RoundTripper: the way to the dashboards inside a cluster.
func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	w, served := httptest.NewRecorder(), r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	s.dashboard.ServeHTTP(w, served)
	return w.Result(), nil
}

// answer lets one kind of request fail.
func (s *apiServer) answer(verb, resource string, err error) {
	react := func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err }
	s.core.PrependReactor(verb, resource, react)
	s.rays.PrependReactor(verb, resource, react)
}

// rayJob returns a stored RayJob, or nil.
func (s *apiServer) rayJob(t *testing.T, name string) *rayv1.RayJob {
	t.Helper()
	rj, err := s.rays.RayV1().RayJobs("research").Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return rj
}

// token returns the Secret of an attempt, or nil.
func (s *apiServer) token(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	secret, err := s.core.CoreV1().Secrets("research").Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return secret
}

// starts marks a RayJob as running on its own cluster, and starts its training on the dashboard as KubeRay does.
func (s *apiServer) starts(t *testing.T, name string) {
	t.Helper()
	const cluster = "x2x4z"
	rj := s.rayJob(t, name)
	rj.Status = rayv1.RayJobStatus{
		JobDeploymentStatus: rayv1.JobDeploymentStatusRunning, JobStatus: rayv1.JobStatusRunning,
		DashboardURL: cluster + "-head-svc.research.svc:8265", RayClusterName: cluster,
	}
	_, err := s.rays.RayV1().RayJobs("research").UpdateStatus(t.Context(), rj, metav1.UpdateOptions{})
	require.NoError(t, err)
	own := &rayv1.RayCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster, Namespace: "research"}}
	_, err = s.rays.RayV1().RayClusters("research").Create(t.Context(), own, metav1.CreateOptions{})
	require.NoError(t, err)
	s.runs(t, name)
	if secret := s.token(t, name); secret != nil { // the fake does not turn StringData into Data
		secret.Data = map[string][]byte{utils.RAY_AUTH_TOKEN_SECRET_KEY: []byte(secret.StringData[utils.RAY_AUTH_TOKEN_SECRET_KEY])}
		_, err = s.core.CoreV1().Secrets("research").Update(t.Context(), secret, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
}

// runs starts a training on the dashboard.
func (s *apiServer) runs(t *testing.T, name string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"submission_id": name, "entrypoint": "python -m trainer run x"})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	s.dashboard.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/jobs/", io.NopCloser(bytes.NewReader(body))))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
}

// requireKind checks what an error means for its job.
func requireKind(t *testing.T, want job.Kind, err error) {
	t.Helper()
	require.Error(t, err)
	kind, _ := job.Classify(err)
	require.Equal(t, want, kind, "%v", err)
	require.NotContains(t, err.Error(), "\n", "it is one line")
}

// resourceOf names a resource in an error of the API server.
func resourceOf(group, name string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: name}
}

// submitted submits an attempt that nothing hinders.
func (s *apiServer) submitted(t *testing.T, a rayjob.Attempt) rayjob.Handle {
	t.Helper()
	h, err := s.Submit(t.Context(), a)
	require.NoError(t, err)
	return h
}
