//go:build kuberay

package kuberay

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sizes are the numbers of workers that the only Ray cluster had, one after the other.
type sizes []int

// look adds the present number of workers if it is another.
func (s *sizes) look(t *testing.T, w *fixture) {
	t.Helper()
	clusters, err := w.ray.RayV1().RayClusters(w.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range clusters.Items {
		if n := int(clusters.Items[i].Status.AvailableWorkerReplicas); len(*s) == 0 || (*s)[len(*s)-1] != n {
			*s = append(*s, n)
		}
	}
}

// scale has Ray's autoscaler start so many workers of a training from none. A standing cluster loses them when the training is over.
func (w *fixture) scale(t *testing.T, profile string, workers int) {
	t.Helper()
	var seen sizes
	id := w.submit(t, map[string]any{"model": "bert-tiny", "num_workers": workers, "epochs": 2}, profile)
	require.Eventually(t, func() bool {
		seen.look(t, w)
		last, err := w.session.Job(t.Context(), id)
		return err == nil && (last.Status == "SUCCEEDED" || last.Status == "ERROR")
	}, testTimeout, 200*time.Millisecond)
	last := w.await(t, id)
	require.Equal(t, "SUCCEEDED", last.Status, last.Message)
	if profile == "standing" {
		require.Eventually(t, func() bool { seen.look(t, w); return seen[len(seen)-1] == 0 }, testTimeout, 200*time.Millisecond)
	}
	t.Logf("%s\nworkers of the cluster, one after the other: %v", last.Message, seen)
	require.Zero(t, seen[0], "it begins with the head alone")
	require.Equal(t, workers, slices.Max(seen))
	updates, err := w.session.JobUpdates(t.Context(), id)
	require.NoError(t, err)
	for _, u := range updates {
		t.Log(u.At.Format(time.TimeOnly), u.Text)
	}
}
