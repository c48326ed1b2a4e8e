package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/ports"
)

// Operator is the real KubeRay operator, run as the administrator.
type Operator struct {
	plane     *Plane
	program   string
	namespace string
	proxy     string
	child     *process
}

// Operator starts a KubeRay operator for one namespace, until the test ends. It asks the dashboard of a cluster at
// http://<cluster>-head-svc.<namespace>.svc.cluster.local:8265, a name that nothing resolves here: dashboard answers for
// all clusters and finds the name in the Host of the request.
func (p *Plane) Operator(tb testing.TB, namespace string, dashboard http.Handler) *Operator {
	tb.Helper()
	bin, err := programs(tb.Context(), "ray-operator")
	require.NoError(tb, err)
	proxy := httptest.NewServer(direct(dashboard))
	o := &Operator{plane: p, program: filepath.Join(bin, "ray-operator"), namespace: namespace, proxy: proxy.URL}
	tb.Cleanup(func() {
		o.Kill()
		proxy.Close()
		if tb.Failed() {
			tb.Logf("the operator's last words:\n%s", o.child.tail())
		}
	})
	o.Start(tb)
	return o
}

// direct turns a request to a proxy, which names the whole address, into the one that the server behind it gets.
func direct(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RequestURI = r.URL.RequestURI()
		r.URL.Scheme, r.URL.Host = "", ""
		h.ServeHTTP(w, r)
	})
}

// Start starts the operator again after Kill and waits until it works.
func (o *Operator) Start(tb testing.TB) {
	tb.Helper()
	free, err := ports.Free(tb.Context(), 1)
	require.NoError(tb, err)
	probe := fmt.Sprintf("127.0.0.1:%d", free[0])
	//nolint:noctx // it outlives the test's context: other clean-ups may need it
	cmd := exec.Command(o.program, "--kubeconfig="+o.plane.Kubeconfig(), "--watch-namespace="+o.namespace,
		"--health-probe-bind-address="+probe, "--metrics-addr=0", "--enable-leader-election=false")
	// Go's clients never ask a proxy for loopback, so the API server is reached directly.
	cmd.Env = append(os.Environ(), "HTTP_PROXY="+o.proxy, "http_proxy="+o.proxy, "NO_PROXY=", "no_proxy=")
	o.child, err = o.plane.run(cmd)
	require.NoError(tb, err)
	require.Eventually(tb, func() bool { return answers(tb.Context(), "http://"+probe+"/readyz") }, startTimeout, 50*time.Millisecond,
		"the operator does not answer")
}

// Kill ends the operator at once, as a node that dies does. It may be called twice.
func (o *Operator) Kill() {
	if o.child != nil {
		o.child.kill()
	}
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}
