//go:build kuberay

package kuberay

import (
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

// curious is a script that works, and prints what it should not be able to see or do.
const curious = `
import glob, json, os, subprocess, time

def found(what, happened):
    if happened:
        print("FOUND", what, flush=True)

for step in range(20):
    print(f"step {step}/20 loss {1 / (step + 1):.3f}", flush=True)
    time.sleep(0.2)
found("a token of the cluster in its environment", any(name.startswith(("RAY_", "KUBERNETES_", "POD_")) or "AUTH" in name for name in os.environ))
found("a token of the API server", os.path.exists("/var/run/secrets/kubernetes.io/serviceaccount/token"))
found("other runs", len(glob.glob("/shared/runs/*")) > 1)
found("the cache", os.path.exists("/shared/cache"))
found("the registry", os.path.exists("/shared/registry"))
for path in ["/shared/planted", "/shared/runs/planted", "/planted", "/opt/trainer/planted", *(f + "/planted" for f in glob.glob("/shared/trainer/*"))]:
    try:
        open(path, "w").close()
        found("a place to write: " + path, True)
    except OSError:
        pass
try:
    open("data/rows.csv", "a").write("evil")
    found("its input writable", True)
except OSError:
    pass
found("a way to become root", os.getuid() == 0 or subprocess.run(["sh", "-c", "sudo -n true 2>/dev/null"]).returncode == 0)
os.makedirs("out", exist_ok=True)
json.dump({"accuracy": 0.75, "rows": len(open("data/rows.csv").readlines())}, open("out/metrics.json", "w"))
print("done", flush=True)
`

// script runs a script in its one pod, which reaches nothing of others.
func (w *fixture) script(t *testing.T) {
	t.Helper()
	id := w.files(t, "Script", map[string]string{"train.py": curious, "rows.csv": "a\nb\nc\n"})
	line, stop := w.watch(t)
	defer stop()
	submitted, err := w.session.Submit(t.Context(), id, "ncsa.ray.script", map[string]any{"profile": "small"})
	require.NoError(t, err)
	pods := w.scriptPods(t)
	last := w.await(t, submitted)
	line.note(lastWords, "Clowder shows the end", time.Now())
	stop()
	t.Logf("a script: %s\n%s", last.Message, line)
	require.Equal(t, "SUCCEEDED", last.Status, last.Message)

	require.Len(t, pods, 1, "Ray, the driver and the script share one pod")
	require.Equal(t, "script", pods[0].Labels["clowder-ray.ncsa.illinois.edu/kind"])
	require.False(t, *pods[0].Spec.AutomountServiceAccountToken)
	run := w.newest(t)
	result, failure, err := results.Read(disk.Folder{Volume: filepath.Join(w.shared, "runs", run)}, run, 1)
	require.NoError(t, err)
	require.Nil(t, failure)
	require.Equal(t, "pod", result.Script.Sandbox.Name)
	log := results.LastLines(disk.Folder{Volume: filepath.Join(w.shared, "runs", run)}, 100)
	require.NotContains(t, log, "FOUND")
	require.Contains(t, log, "done")
	files, err := w.session.Files(t.Context(), id)
	require.NoError(t, err)
	names := map[string]int{}
	for _, f := range files {
		names[path.Base(f.Path)]++
	}
	for _, name := range []string{"metrics.json", "report.html", "manifest.json", "log.txt"} {
		require.Equal(t, 1, names[name], "%s in %v", name, names)
	}
	w.requireGone(t, run)
	w.requireNoPods(t)
}

// scriptPods waits until the pods of a script run, and returns all pods of its run.
func (w *fixture) scriptPods(t *testing.T) []corev1.Pod {
	t.Helper()
	var pods *corev1.PodList
	require.Eventually(t, func() bool {
		var err error
		pods, err = w.core.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "ray.io/is-ray-node=yes"})
		return err == nil && len(pods.Items) > 0 && pods.Items[0].Status.Phase == corev1.PodRunning
	}, testTimeout, 100*time.Millisecond)
	return pods.Items
}
