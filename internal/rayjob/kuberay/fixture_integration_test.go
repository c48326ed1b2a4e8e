//go:build integration

package kuberay

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/cluster"
)

// wait is the longest that the operator, who looks every three seconds, may take for anything.
const wait = time.Minute

// heads are the dashboards of all Ray clusters of a test, by the name of their service. A cluster that is asked for is
// there. Each wants a token, whichever it is.
type heads struct {
	mu   sync.Mutex
	all  map[string]*raytest.Server
	cfg  raytest.Config
	seen map[string]bool // tokens
}

func newHeads(t *testing.T, cfg raytest.Config) *heads {
	t.Helper()
	h := &heads{all: map[string]*raytest.Server{}, cfg: cfg, seen: map[string]bool{}}
	t.Cleanup(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, server := range h.all {
			server.Close()
		}
	})
	return h
}

// ServeHTTP implements http.Handler.
func (h *heads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(r.Host, ".")
	token := strings.TrimPrefix(r.Header.Get("X-Ray-Authorization"), "Bearer ")
	if len(token) < 32 {
		http.Error(w, "Unauthorized: Missing authentication token", http.StatusUnauthorized)
		return
	}
	h.mu.Lock()
	server := h.all[name]
	if server == nil {
		server = raytest.NewServer(h.cfg)
		h.all[name] = server
	}
	h.seen[token] = true
	h.mu.Unlock()
	server.ServeHTTP(w, r)
}

// saw reports whether a request came with this token.
func (h *heads) saw(token string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[token]
}

// RoundTrip implements http.RoundTripper: the way to the dashboards inside a cluster.
func (h *heads) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	served := r.Clone(r.Context())
	served.Host = r.URL.Host
	if served.Body == nil {
		served.Body = http.NoBody
	}
	h.ServeHTTP(w, served)
	return w.Result(), nil
}

// fixture is a namespace with a KubeRay operator that runs stand-ins for trainings.
type fixture struct {
	plane     *cluster.Plane
	operator  *cluster.Operator
	heads     *heads
	namespace string
	client    *Client
}

// newFixture starts an operator on plane; pods are ready at once and programs are played.
func newFixture(t *testing.T, plane *cluster.Plane) *fixture {
	t.Helper()
	b := &fixture{plane: plane, heads: newHeads(t, raytest.Config{Run: raytest.Program}), namespace: plane.Namespace(t, nil)}
	b.operator = plane.Operator(t, b.namespace, b.heads)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	require.NoError(t, plane.PlayKubelet(ctx, b.namespace))
	b.client = b.newClient(t, plane.Config())
	return b
}

// newClient returns a client that works until the test ends.
func (b *fixture) newClient(t *testing.T, conf *rest.Config, change ...func(*Config)) *Client {
	t.Helper()
	cfg := example()
	cfg.Namespace, cfg.Mount = b.namespace, "/"
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg, &Access{Config: conf, Inside: true, Dashboards: b.heads}, zaptest.NewLogger(t))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		conf := rest.CopyConfig(c.access.Config)
		if web, err := rest.HTTPClientFor(conf); err == nil {
			web.CloseIdleConnections()
		}
	})
	return c
}

// attempt writes the spec of a run of its own.
func (b *fixture) attempt(t *testing.T, spec raytest.Spec) rayjob.Attempt {
	t.Helper()
	dir := t.TempDir()
	doc, err := json.Marshal(spec)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "spec.json"), doc, 0o600))
	return rayjob.Attempt{Run: rayjob.RunName("kuberay", t.Name(), dir), Number: 1, Dir: dir, Python: "python"}
}

func (b *fixture) submit(t *testing.T, a rayjob.Attempt) rayjob.Handle {
	t.Helper()
	h, err := b.client.Submit(t.Context(), a)
	require.NoError(t, err)
	return h
}

// until waits for a verdict.
func (b *fixture) until(t *testing.T, h rayjob.Handle, want rayjob.Verdict) rayjob.Observation {
	t.Helper()
	var obs rayjob.Observation
	require.Eventually(t, func() bool {
		var err error
		obs, err = b.client.Observe(t.Context(), h, time.Hour)
		require.NoError(t, err)
		if obs.Verdict != want && obs.Verdict.Terminal() {
			require.Equal(t, want, obs.Verdict, obs.Reason)
		}
		return obs.Verdict == want
	}, wait, 50*time.Millisecond, "%+v", &obs)
	return obs
}

// started waits until the program itself says that it runs.
func (b *fixture) started(t *testing.T, a rayjob.Attempt) {
	t.Helper()
	require.Eventually(t, func() bool { return exists(a, "starts") }, wait, 50*time.Millisecond)
}

func exists(a rayjob.Attempt, name string) bool {
	_, err := os.Stat(filepath.Join(a.Dir, name))
	return err == nil
}

// release releases as a caller does: again while the error says later.
func (b *fixture) release(t *testing.T, h rayjob.Handle) {
	t.Helper()
	require.Eventually(t, func() bool {
		err := b.client.Release(t.Context(), h)
		if err != nil {
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindLater, kind, err)
		}
		return err == nil
	}, wait, 50*time.Millisecond)
}

// gone waits until nothing of the attempt is left but what Kubernetes collects.
func (b *fixture) gone(t *testing.T, h rayjob.Handle) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := b.client.live(t.Context(), h.ID)
		return missing(err)
	}, wait, 50*time.Millisecond)
}

func (b *fixture) rayJob(t *testing.T, name string) *rayv1.RayJob {
	t.Helper()
	rj, err := b.client.ray.RayV1().RayJobs(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return rj
}

// stand makes a standing RayCluster, as an administrator does, and waits until it is ready.
func (b *fixture) stand(t *testing.T, name string) {
	t.Helper()
	cfg := example()
	cfg.Namespace, cfg.Mount = b.namespace, "/shared"
	whole := []corev1.VolumeMount{{Name: sharedVolume, MountPath: cfg.Mount}}
	spec := cfg.withDefaults().newCluster(rayjob.Attempt{Run: name, Number: 1}, cfg.withDefaults().Profiles[0], whole)
	spec.AuthOptions = &rayv1.AuthOptions{Mode: rayv1.AuthModeToken}
	clusters := b.client.ray.RayV1().RayClusters(b.namespace)
	_, err := clusters.Create(t.Context(), &rayv1.RayCluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *spec}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		c, err := clusters.Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && meta.IsStatusConditionTrue(c.Status.Conditions, string(rayv1.RayClusterProvisioned))
	}, wait, 50*time.Millisecond)
}
