//go:build kuberay

package kuberay

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
)

// exec runs a command in the pod of the service and returns what it prints, whatever its exit code.
func (w *fixture) exec(t *testing.T, command ...string) string {
	t.Helper()
	return w.execIn(t, release+"-0", "", command...)
}

// execIn runs a command in a container of a pod.
func (w *fixture) execIn(t *testing.T, pod, container string, command ...string) string {
	t.Helper()
	req := w.core.CoreV1().RESTClient().Post().Namespace(w.namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	exec, err := remotecommand.NewSPDYExecutor(w.conf, "POST", req.URL())
	require.NoError(t, err)
	var out, faults bytes.Buffer // two streams that are written at once
	err = exec.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out, Stderr: &faults})
	if err != nil {
		faults.WriteString(err.Error())
	}
	return out.String() + faults.String()
}
