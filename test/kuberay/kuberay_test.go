//go:build kuberay

package kuberay

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/broker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(broker.Main(m)) }

// The life of trainings in a cluster, one after the other: the machine has room for one.
func TestTrainingsInKubernetes(t *testing.T) {
	w := newFixture(t)
	t.Run("doctor finds what is missing and nothing else", func(t *testing.T) {
		out := w.exec(t, "/extractor", "doctor")
		t.Log("extractor doctor\n" + out)
		require.Equal(t, 1, strings.Count(out, "FAIL"))
		require.Contains(t, out, "the profile standing uses the RayCluster standing, which does not exist in the namespace "+w.namespace+": create it")
	})
	var first done
	t.Run("a cluster of its own", func(t *testing.T) {
		done := w.train(t, "a cluster of its own", map[string]any{"model": "bert-tiny", "num_workers": 2, "epochs": 2}, nil)
		require.Equal(t, 2, done.result.Training.Workers)
		w.requireClean(t, done)
		first = done
	})
	t.Run("its model is served by its manifest", func(t *testing.T) {
		w.serve(t, first)
	})
	t.Run("a prediction sees its model and no other", func(t *testing.T) {
		w.predict(t, first.dataset)
	})
	t.Run("a script of a user", func(t *testing.T) {
		w.script(t)
	})
	t.Run("a cluster that scales itself", func(t *testing.T) {
		w.scale(t, "scaled", 2)
		run := w.newest(t)
		w.requireGone(t, run)
		w.requireNoPods(t)
		w.requireFinished(t, run)
	})
	t.Run("a queue of Kueue", func(t *testing.T) {
		w.queue(t)
	})
	t.Run("a standing cluster, which scales itself too", func(t *testing.T) {
		w.stand(t)
		w.scale(t, "standing", 3)
		run := w.newest(t)
		w.requireGone(t, run)
		w.requireFinished(t, run)
	})
	for _, kind := range []string{"worker", "head"} {
		t.Run("a "+kind+" pod is killed", func(t *testing.T) {
			long := map[string]any{"model": "bert-tiny", "num_workers": 2, "epochs": 12, "more_options": "early_stopping_patience: 0"}
			done := w.train(t, "a "+kind+" pod killed", long, func(run string) {
				w.requireItsRunOnly(t, run)
				w.kill(t, run, kind)
			})
			require.Positive(t, done.result.Training.Resumed, "it went on from a checkpoint")
			require.Equal(t, 1, done.result.Attempt, "within one attempt")
			t.Logf("steps done twice after the %s pod was killed: %d of %d", kind, done.repeated, done.steps)
			w.requireClean(t, done)
		})
	}
}

// done is a training that ended well.
type done struct {
	run, dataset    string
	result          *results.Result
	steps, repeated int
	firstStep       time.Duration // after the message
}

// train submits a dataset and follows it to its end. Once the training has evaluated for the second time, disturb is called.
func (w *fixture) train(t *testing.T, title string, parameters map[string]any, disturb func(run string)) done {
	t.Helper()
	id := w.dataset(t)
	line, stop := w.watch(t)
	defer stop()
	submitted, err := w.session.Submit(t.Context(), id, extractor, parameters)
	require.NoError(t, err)
	if disturb != nil {
		disturb(w.evaluated(t, 2))
	}
	last := w.await(t, submitted)
	line.note(lastWords, "Clowder shows the end", time.Now())
	require.Equal(t, "SUCCEEDED", last.Status, last.Message)
	stop()
	t.Logf("%s: %s\n%s", title, last.Message, line)

	d := done{dataset: id, run: w.newest(t), firstStep: line.until("first step")}
	folder := filepath.Join(w.shared, "runs", d.run)
	result, failure, err := results.Read(disk.Folder{Volume: folder}, d.run, 1)
	require.NoError(t, err)
	require.Nil(t, failure)
	d.result = result
	d.steps, d.repeated = steps(t, folder)
	w.requireUploads(t, id)
	return d
}

// await waits until Clowder shows a job as over.
func (w *fixture) await(t *testing.T, id string) clowder.Job {
	t.Helper()
	var last clowder.Job
	require.Eventually(t, func() bool {
		var err error
		last, err = w.session.Job(t.Context(), id)
		return err == nil && (last.Status == "SUCCEEDED" || last.Status == "ERROR" || last.Status == "SKIPPED")
	}, testTimeout, 100*time.Millisecond)
	return last
}

// evaluated waits until the newest run has evaluated n times, and returns it.
func (w *fixture) evaluated(t *testing.T, n int) (run string) {
	t.Helper()
	require.Eventually(t, func() bool {
		jobs, err := w.ray.RayV1().RayJobs(w.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(jobs.Items) == 0 {
			return false
		}
		run = jobs.Items[0].Labels["clowder-ray.ncsa.illinois.edu/run"]
		events, err := results.ReadEvents(disk.Folder{Volume: w.shared, Name: "runs/" + run})
		found := 0
		for _, e := range events {
			if e.Kind == results.KindEval && e.Split == results.SplitValidation {
				found++
			}
		}
		return err == nil && found >= n
	}, testTimeout, 100*time.Millisecond)
	return run
}

// kill deletes a pod of the run without grace, as the loss of its node does.
func (w *fixture) kill(t *testing.T, run, kind string) {
	t.Helper()
	pods, err := w.core.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{
		LabelSelector: "clowder-ray.ncsa.illinois.edu/run=" + run + ",ray.io/node-type=" + kind,
	})
	require.NoError(t, err)
	require.NotEmpty(t, pods.Items)
	pod := pods.Items[0].Name
	t.Logf("%s deleting the pod %s", time.Now().Format(time.TimeOnly), pod)
	require.NoError(t, w.core.CoreV1().Pods(w.namespace).Delete(t.Context(), pod, *metav1.NewDeleteOptions(0)))
}

// newest is the run folder that was made last.
func (w *fixture) newest(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.shared, "runs"))
	require.NoError(t, err)
	var name string
	var at time.Time
	for _, e := range entries {
		spec, err := os.Stat(filepath.Join(w.shared, "runs", e.Name(), "spec.json"))
		require.NoError(t, err)
		if spec.ModTime().After(at) {
			name, at = e.Name(), spec.ModTime()
		}
	}
	return name
}

// steps counts the steps of a training, and those that were done again after a loss.
func steps(t *testing.T, folder string) (total, repeated int) {
	t.Helper()
	events, err := results.ReadEvents(disk.Folder{Volume: folder})
	require.NoError(t, err)
	at := 0
	for _, e := range events {
		switch e.Kind {
		case results.KindProgress, results.KindEval:
			at = max(at, e.Step)
			total = max(total, e.Steps)
		case results.KindResume:
			repeated += max(0, at-e.Step) // progress is told now and then only
		default:
		}
	}
	return total, repeated
}

// requireUploads checks what the user finds in the dataset.
func (w *fixture) requireUploads(t *testing.T, dataset string) {
	t.Helper()
	files, err := w.session.Files(t.Context(), dataset)
	require.NoError(t, err)
	names := map[string]int{}
	for _, f := range files {
		names[path.Base(f.Path)]++
	}
	for _, name := range []string{"model.zip", "metrics.json", "predictions.csv", "report.html", "manifest.json", "log.txt"} {
		require.Equal(t, 1, names[name], "%s in %v", name, names)
	}
}

// requireClean checks that nothing of the run is left in the cluster, and nothing unfinished on the shared volume.
func (w *fixture) requireClean(t *testing.T, d done) {
	t.Helper()
	w.requireGone(t, d.run)
	w.requireNoPods(t)
	clusters, err := w.ray.RayV1().RayClusters(w.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, clusters.Items)
	w.requireFinished(t, d.run)
}

// requireFinished checks that nothing half-written is left in the folder of a run, and of all starts no more than the claim of the
// last one.
func (w *fixture) requireFinished(t *testing.T, run string) {
	t.Helper()
	folder := filepath.Join(w.shared, "runs", run)
	require.NoError(t, filepath.WalkDir(folder, func(file string, _ os.DirEntry, err error) error {
		require.NotContains(t, filepath.Base(file), ".tmp", file)
		return err
	}))
	left, err := filepath.Glob(filepath.Join(folder, "work", "*", "*")) // none where the service has swept already
	require.NoError(t, err)
	require.LessOrEqual(t, len(left), 1, "%s", left)
	for _, file := range left {
		require.Equal(t, "lease.json", filepath.Base(file))
	}
}

// requireGone waits until the RayJob and the token of a run are gone.
func (w *fixture) requireGone(t *testing.T, run string) {
	t.Helper()
	of := metav1.ListOptions{LabelSelector: "clowder-ray.ncsa.illinois.edu/run=" + run}
	require.Eventually(t, func() bool {
		jobs, err := w.ray.RayV1().RayJobs(w.namespace).List(t.Context(), of)
		require.NoError(t, err)
		secrets, err := w.core.CoreV1().Secrets(w.namespace).List(t.Context(), of)
		require.NoError(t, err)
		return len(jobs.Items)+len(secrets.Items) == 0
	}, testTimeout, 200*time.Millisecond)
}

// requireNoPods waits until Ray has no pod left.
func (w *fixture) requireNoPods(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		pods, err := w.core.CoreV1().Pods(w.namespace).List(context.Background(), metav1.ListOptions{LabelSelector: "ray.io/is-ray-node=yes"})
		require.NoError(t, err)
		return len(pods.Items) == 0
	}, testTimeout, 200*time.Millisecond)
}

// stand makes the standing RayCluster, as an administrator does, and waits until it is ready.
func (w *fixture) stand(t *testing.T) {
	t.Helper()
	var cluster rayv1.RayCluster
	doc, err := os.ReadFile("standing.yaml")
	require.NoError(t, err)
	text := strings.NewReplacer("IMAGE", rayImage(), "CLAIM", w.claim).Replace(string(doc))
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &cluster))
	clusters := w.ray.RayV1().RayClusters(w.namespace)
	_, err = clusters.Create(t.Context(), &cluster, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { // there is no room for it beside another
		require.NoError(t, clusters.Delete(context.Background(), cluster.Name, metav1.DeleteOptions{}))
		w.requireNoPods(t)
	})
	require.Eventually(t, func() bool {
		c, err := clusters.Get(t.Context(), cluster.Name, metav1.GetOptions{})
		return err == nil && meta.IsStatusConditionTrue(c.Status.Conditions, string(rayv1.RayClusterProvisioned))
	}, testTimeout, 200*time.Millisecond)
}
