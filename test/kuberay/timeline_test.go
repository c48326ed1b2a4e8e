//go:build kuberay

package kuberay

import (
	"context"
	"fmt"
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

// timeline notes when the parts of one job were first seen, in seconds after its message was sent.
type timeline struct {
	began time.Time
	mu    sync.Mutex
	seen  map[string]bool
	lines []string
}

func (l *timeline) note(what string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[what] {
		return
	}
	l.seen[what] = true
	l.lines = append(l.lines, fmt.Sprintf("%6.1f s  %s", at.Sub(l.began).Seconds(), what))
}

func (l *timeline) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// watch notes the times of the newest job until the returned function is called.
func (w *fixture) watch(t *testing.T) (l *timeline, stop func()) {
	t.Helper()
	l = &timeline{began: time.Now(), seen: map[string]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
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
		l.note("the RayJob is there", now)
		if rj.Status.JobDeploymentStatus == rayv1.JobDeploymentStatusRunning {
			l.note("the cluster is ready, the job is sent to Ray", now)
		}
		if rj.Status.JobStatus == rayv1.JobStatusSucceeded {
			l.note("KubeRay says SUCCEEDED", now)
		}
		w.lookAtPods(ctx, l, rj.Status.RayClusterName)
		w.lookAtEvents(l, rj.Labels["clowder-ray.ncsa.illinois.edu/run"])
	}
}

// lookAtPods takes the times from the conditions, which are whole seconds.
func (w *fixture) lookAtPods(ctx context.Context, l *timeline, cluster string) {
	pods, err := w.core.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: "ray.io/cluster=" + cluster})
	if err != nil || cluster == "" {
		return
	}
	ready := map[string]int{}
	for _, pod := range pods.Items {
		for _, cond := range pod.Status.Conditions {
			if cond.Type == corev1.PodReady && cond.Status == corev1.ConditionTrue {
				ready[pod.Labels["ray.io/node-type"]]++
			}
		}
	}
	now := time.Now()
	if ready["head"] > 0 {
		l.note("the head is ready", now)
	}
	if ready["worker"] > 1 {
		l.note("both workers are ready", now)
	}
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
			l.note("the driver runs", e.Time)
		case e.Kind == results.KindProgress:
			l.note("first step", e.Time)
		case e.Kind == results.KindDone:
			l.note("the driver is done", e.Time)
		}
	}
}
