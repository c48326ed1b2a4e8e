package cluster

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shared is the one plane of a test binary, started by the first test that asks for it.
var shared struct {
	sync.Mutex
	plane *Plane
	err   error
}

// Shared returns the plane of this test binary. Tests that use it keep to a Namespace of their own and leave the API
// server as it is. TestMain should run Main, which stops the plane.
func Shared(tb testing.TB) *Plane {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.plane == nil && shared.err == nil {
		shared.plane, shared.err = Start(context.Background())
	}
	require.NoError(tb, shared.err)
	return shared.plane
}

// Control starts a plane for one test alone, which may stop its API server; it ends with the test.
func Control(tb testing.TB) *Plane {
	tb.Helper()
	p, err := Start(tb.Context())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, p.Stop()) })
	return p
}

// Namespace makes a namespace for one test, so that tests can run at once and none sees another's objects.
func (p *Plane) Namespace(tb testing.TB, labels map[string]string) string {
	tb.Helper()
	ns, err := p.admin.CoreV1().Namespaces().Create(tb.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels},
	}, metav1.CreateOptions{})
	require.NoError(tb, err)
	return ns.Name
}

// Main wraps a *testing.M so that the plane of Shared is stopped after the last test:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(cluster.Main(m)) }
func Main(m interface{ Run() int }) interface{ Run() int } { return tests{m} }

type tests struct{ m interface{ Run() int } }

// Run runs the tests and stops the shared plane.
func (t tests) Run() int {
	code := t.m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.plane == nil {
		return code
	}
	if err := shared.plane.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the control plane:", err)
		return 1
	}
	return code
}
