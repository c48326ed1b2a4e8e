//go:build kuberay

package kuberay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

// Who the time before a step of a job belongs to.
const (
	service   = "the service"
	kubeRay   = "KubeRay"
	kubelet   = "scheduler, kubelet, image"
	rayStart  = "Ray's start, readiness probe"
	gcsWait   = "KubeRay's init container"
	rayJob    = "Ray's job: supervisor, driver"
	driver    = "the driver"
	workers   = "workers: actors, imports left"
	training  = "the training"
	lastWords = "KubeRay's polling, the service, Clowder"
)

// timeline notes when the steps of one job were first seen, and who each is waited for.
type timeline struct {
	began time.Time
	mu    sync.Mutex
	seen  map[string]bool
	steps []step
}

// step is what was reached, when, and who made it last until then.
type step struct {
	at          time.Time
	owner, what string
}

func (l *timeline) note(owner, what string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[what] {
		return
	}
	l.seen[what] = true
	l.steps = append(l.steps, step{at, owner, what})
}

// until is the time from the message to a step; 0 if it was not seen.
func (l *timeline) until(what string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps {
		if s.what == what {
			return s.at.Sub(l.began)
		}
	}
	return 0
}

// String is a table: each second since the message belongs to the step that it ends with.
func (l *timeline) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortStableFunc(l.steps, func(a, b step) int { return a.at.Compare(b.at) })
	var out strings.Builder
	from := l.began
	for _, s := range l.steps {
		_, _ = fmt.Fprintf(&out, "%6.1f s  +%4.1f  %-32s %s\n", s.at.Sub(l.began).Seconds(), s.at.Sub(from).Seconds(), s.owner, s.what)
		from = s.at
	}
	return out.String()
}

// watch notes the times of the newest job until the returned function is called.
func (w *fixture) watch(t *testing.T) (l *timeline, stop func()) {
	t.Helper()
	l = &timeline{began: time.Now(), seen: map[string]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				w.look(ctx, l)
			}
		}
	})
	return l, func() { cancel(); wait.Wait() }
}

func (w *fixture) look(ctx context.Context, l *timeline) {
	jobs, err := w.ray.RayV1().RayJobs(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	now := time.Now()
	for i := range jobs.Items {
		rj := &jobs.Items[i]
		if rj.CreationTimestamp.Time.Before(l.began.Truncate(time.Second)) {
			continue
		}
		l.note(service, "the RayJob is there", now)
		if rj.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusRunning {
			l.note(kubeRay, "the cluster is ready, the job is sent to Ray", now)
		}
		if rj.Status.JobStatus == rayv1.JobStatusSucceeded {
			l.note(lastWords, "KubeRay says SUCCEEDED", now)
		}
		w.lookAtPods(ctx, l, rj.Status.RayClusterName)
		w.lookAtEvents(l, rj.Labels["clowder-ray.ncsa.illinois.edu/run"])
	}
}

// lookAtPods notes what most pods of a kind wait for: the last one counts.
func (w *fixture) lookAtPods(ctx context.Context, l *timeline, cluster string) {
	pods, err := w.core.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: "ray.io/cluster=" + cluster})
	if err != nil || cluster == "" {
		return
	}
	now := time.Now()
	count, running, ready := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		kind := pod.Labels["ray.io/node-type"]
		count[kind]++
		if isRunning(pod) {
			running[kind]++
		}
		if isReady(pod) {
			ready[kind]++
		}
	}
	for kind, waits := range map[string]string{"head": kubelet, "worker": gcsWait} {
		all := count[kind]
		if all == 0 {
			continue
		}
		l.note(kubeRay, "pods: "+kind, now)
		if running[kind] == all {
			l.note(waits, "containers of Ray run: "+kind, now)
		}
		if ready[kind] == all {
			l.note(rayStart, "ready: "+kind, now)
		}
	}
}

// isRunning reports whether Ray's container has started.
func isRunning(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == "ray" && s.State.Running != nil })
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// lookAtEvents takes the times that the trainer wrote.
func (w *fixture) lookAtEvents(l *timeline, run string) {
	events, err := results.ReadEvents(disk.Folder{Volume: w.shared, Name: "runs/" + run})
	if err != nil {
		return
	}
	for _, e := range events {
		switch {
		case e.Time.Before(l.began):
		case e.Kind == results.KindPhase && e.Phase == "start":
			l.note(rayJob, "the driver runs", e.Time)
		case e.Kind == results.KindPhase && e.Phase == "prepare":
			l.note(driver, "workers are requested, the data is read", e.Time)
		case e.Kind == results.KindPhase && e.Phase == "train":
			l.note(workers, "the training begins", e.Time)
		case e.Kind == results.KindProgress:
			l.note(training, "first step", e.Time)
		case e.Kind == results.KindDone:
			l.note(training, "the driver is done", e.Time)
		}
	}
}
