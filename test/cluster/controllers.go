package cluster

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Controllers starts kube-controller-manager with the named controllers, until the test ends; without names with those
// that delete: what belongs to an object that is gone, and what is in a namespace that is going.
func (p *Plane) Controllers(tb testing.TB, names ...string) {
	tb.Helper()
	if len(names) == 0 {
		names = []string{"garbage-collector-controller", "namespace-controller"}
	}
	bin, err := programs(tb.Context(), "kube-controller-manager")
	require.NoError(tb, err)
	//nolint:noctx // it outlives the test's context: other clean-ups may need it
	child, err := p.run(exec.Command(filepath.Join(bin, "kube-controller-manager"), "--kubeconfig="+p.Kubeconfig(),
		"--controllers="+strings.Join(names, ","), "--leader-elect=false", "--secure-port=0"))
	require.NoError(tb, err)
	tb.Cleanup(child.kill)
}
