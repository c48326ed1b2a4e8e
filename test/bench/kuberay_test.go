//go:build integration

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/pkg/client/clientset/versioned"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/test/cluster"
	"github.com/ncsa/clowder-ray/test/stack"
)

// flying is how many jobs run at once, young how long they are looked at more often than later, and quiet how long nothing changes then.
const (
	flying = 500
	young  = 20 * time.Second
	quiet  = 30 * time.Second
)

// BenchmarkRayJobs brings 500 jobs to a real API server, which says of each that it runs, and then measures what the service
// costs while nothing changes.
func BenchmarkRayJobs(b *testing.B) {
	plane := cluster.Shared(b)
	namespace := plane.Namespace(b, nil)
	ray, err := versioned.NewForConfig(plane.Config())
	require.NoError(b, err)
	program := stack.Program(b)
	w := stack.NewFixture(b, program, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
	config := filepath.Join(b.TempDir(), "kuberay.yaml")
	require.NoError(b, os.WriteFile(config, fmt.Appendf(nil,
		"{namespace: %s, image: ray:1, rayVersion: 2.60.0, claim: shared, profiles: [{name: small}]}", namespace), 0o600))

	for b.Loop() {
		s := w.Start(b, map[string]string{
			"KUBERAY_CONFIG": config, "KUBECONFIG": plane.Kubeconfig(), "LOG_LEVEL": "warn",
			"MAX_JOBS": "1000", "MAX_RUNNING": "1000", "RAY_POLL": "2s",
		})
		conn, err := amqp.Dial(w.Env["RABBITMQ_URI"])
		require.NoError(b, err)
		ch, err := conn.Channel()
		require.NoError(b, err)
		began := time.Now()
		for n := range flying {
			publish(b, ch, w, fmt.Sprintf("%024x", n), "")
		}
		jobs := ray.RayV1().RayJobs(namespace)
		require.Eventually(b, func() bool {
			list, err := jobs.List(b.Context(), metav1.ListOptions{})
			return err == nil && len(list.Items) == flying
		}, 2*stack.StepTimeout, time.Second, "%s", s.Log())
		b.ReportMetric(flying/time.Since(began).Seconds(), "RayJobs/s")
		list, err := jobs.List(b.Context(), metav1.ListOptions{})
		require.NoError(b, err)
		for i := range list.Items {
			rj := &list.Items[i]
			rj.Status.JobDeploymentStatus, rj.Status.JobStatus = rayv1.JobDeploymentStatusRunning, rayv1.JobStatusRunning
			_, err := jobs.UpdateStatus(b.Context(), rj, metav1.UpdateOptions{})
			require.NoError(b, err)
			makeReady(b, plane, rj)
		}
		require.Eventually(b, func() bool { return running(b, w) == flying }, stack.StepTimeout, time.Second)
		watchAtRest(b, s)
		s.Kill()
		require.NoError(b, conn.Close())
	}
}

// makeReady makes the head pod of a RayJob, as operator and kubelet do.
func makeReady(b *testing.B, plane *cluster.Plane, rj *rayv1.RayJob) {
	b.Helper()
	pods := plane.Admin().CoreV1().Pods(rj.Namespace)
	pod, err := pods.Create(b.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: rj.Name, Labels: rj.Labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "ray", Image: "ray:1"}}},
	}, metav1.CreateOptions{})
	require.NoError(b, err)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	_, err = pods.UpdateStatus(b.Context(), pod, metav1.UpdateOptions{})
	require.NoError(b, err)
}
