//go:build kuberay

package kuberay

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostile tries, in a pod of a run, to see and to change what is not the run's. Each line that it prints is a success of it.
const hostile = `
cd /shared/runs/"$0" || echo "the run folder is not there"
touch mine && rm mine || echo "the run folder cannot be written"
[ "$(ls /shared/runs)" = "$0" ] || echo "sees other runs: $(ls /shared/runs)"
for name in cache jobs.db state; do [ ! -e "/shared/$name" ] || echo "sees $name"; done
for folder in /shared /shared/runs /shared/models /shared/registry /shared/trainer /shared/trainer/* /shared/trainer/*/trainer inputs; do
	[ ! -d "$folder" ] || ! touch "$folder/planted" || echo "writes to $folder"
done
for file in /shared/trainer/*/trainer/run.py $(find /shared/models /shared/registry inputs -type f); do
	! echo evil >>"$file" || echo "changes $file"
	! chmod u+w "$file" || echo "takes $file"
	! rm -f "$file" || echo "removes $file"
done
! mkdir /shared/runs/ft-planted || echo "makes a run folder"
! ln -s /etc/passwd /shared/trainer/link || echo "plants a link"
[ "$(id -u)" = 1001 ] || echo "runs as $(id -u)"
`

// requireItsRunOnly has every pod of a run try what it must not be able to do, and looks at the volume itself afterwards.
func (w *fixture) requireItsRunOnly(t *testing.T, run string) {
	t.Helper()
	others, err := os.ReadDir(filepath.Join(w.shared, "runs"))
	require.NoError(t, err)
	require.Greater(t, len(others), 1, "there is another run to be seen")
	input := filepath.Join(w.shared, "runs", run, "inputs", "train.csv")
	body, sum := w.body(t, input), digest(t, input)
	for _, pod := range w.podsOf(t, run) {
		out := w.execIn(t, pod.Name, "ray", "bash", "-c", "("+hostile+") 2>/dev/null", run)
		require.Empty(t, out, "%s can do what it must not", pod.Name)
		for _, c := range pod.Spec.InitContainers {
			require.NotContains(t, mounted(c), "/shared")
		}
	}
	require.Equal(t, sum, digest(t, body), "the body that other runs link is as it was")
	require.Equal(t, sum, filepath.Base(body))
}

// mounted are the paths at which a container has volumes.
func mounted(c corev1.Container) (paths []string) {
	for _, m := range c.VolumeMounts {
		paths = append(paths, m.MountPath)
	}
	return paths
}

// podsOf are the pods of a run that have started.
func (w *fixture) podsOf(t *testing.T, run string) (running []corev1.Pod) {
	t.Helper()
	pods, err := w.core.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "clowder-ray.ncsa.illinois.edu/run=" + run})
	require.NoError(t, err)
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning {
			running = append(running, pod)
		}
	}
	require.NotEmpty(t, running)
	return running
}

// body is the file of the cache that a staged file is a link to.
func (w *fixture) body(t *testing.T, input string) string {
	t.Helper()
	staged, err := os.Stat(input)
	require.NoError(t, err)
	bodies, err := os.ReadDir(filepath.Join(w.shared, "cache"))
	require.NoError(t, err)
	for _, e := range bodies {
		if info, err := e.Info(); err == nil && os.SameFile(info, staged) {
			return filepath.Join(w.shared, "cache", e.Name())
		}
	}
	require.Fail(t, "the staged file is no link to a body of the cache")
	return ""
}

func digest(t *testing.T, file string) string {
	t.Helper()
	doc, err := os.ReadFile(file)
	require.NoError(t, err)
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}

// predict applies the model of a dataset to its files, and looks meanwhile what of the registry is in the pods.
func (w *fixture) predict(t *testing.T, dataset string) {
	t.Helper()
	w.plantModel(t)
	began := time.Now()
	submitted, err := w.session.Submit(t.Context(), dataset, "ncsa.ray.predict", nil)
	require.NoError(t, err)
	var run string
	require.Eventually(t, func() bool {
		pods, err := w.core.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "ray.io/node-type=head"})
		if err != nil || len(pods.Items) == 0 || pods.Items[0].Status.Phase != corev1.PodRunning {
			return false
		}
		run = pods.Items[0].Labels["clowder-ray.ncsa.illinois.edu/run"]
		return true
	}, testTimeout, 100*time.Millisecond)
	pod := w.podsOf(t, run)[0]
	seen := w.execIn(t, pod.Name, "ray", "find", "/shared/registry", "/shared/models", "-name", "config.json", "-printf", `%P\n`)
	w.requireItsRunOnly(t, run)
	last := w.await(t, submitted)
	require.Equal(t, "SUCCEEDED", last.Status, last.Message)
	t.Logf("%s\nin %s, with these of the models in its pods:\n%s", last.Message, time.Since(began).Round(time.Second), seen)
	require.Equal(t, 2, strings.Count(seen, "config.json"), "its model and the installed one: %s", seen)
	require.Contains(t, seen, "planted/model/config.json")
	w.requireGone(t, run)
	w.requireNoPods(t)
}

// plantModel installs a base model, as an operator does, and adds a version to the registry that belongs to another dataset.
func (w *fixture) plantModel(t *testing.T) {
	t.Helper()
	for _, folder := range []string{"models/planted/model", "registry/eeeeeeeeeeeeeeeeeeeeeeee/planted/1/model"} {
		dir := filepath.Join(w.shared, filepath.FromSlash(folder))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}\n"), 0o644))
	}
	t.Cleanup(func() {
		require.NoError(t, os.RemoveAll(filepath.Join(w.shared, "models", "planted")))
		require.NoError(t, os.RemoveAll(filepath.Join(w.shared, "registry", "eeeeeeeeeeeeeeeeeeeeeeee")))
	})
}
