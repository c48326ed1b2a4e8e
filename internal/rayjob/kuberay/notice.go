package kuberay

import (
	"context"
	"sync"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// A job is explained soon after it starts to wait, and less often the longer it waits: hundreds of jobs may wait for days. A
// running job is only checked for trouble.
const (
	firstNotice  = 5 * time.Second
	firstTrouble = 30 * time.Second
	lastNotice   = 2 * time.Minute
)

// notices stores the last explanation of each attempt and when to renew it.
type notices struct {
	mu    sync.Mutex
	texts map[string]notice
}

type notice struct {
	text string
	due  time.Time
}

// due returns the last explanation, and whether the caller must renew it. Only one caller must at a time.
func (n *notices) due(key string, now time.Time, pause time.Duration) (text string, look bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.texts[key]
	if now.Before(last.due) {
		return last.text, false
	}
	if n.texts == nil {
		n.texts = map[string]notice{}
	}
	n.texts[key] = notice{text: last.text, due: now.Add(pause)}
	return last.text, true
}

func (n *notices) set(key, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts[key] = notice{text: text, due: n.texts[key].due}
}

func (n *notices) forget(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.texts, key)
}

// notice returns what say says of the attempt now, or what it said a short while ago.
func (c *Client) notice(ctx context.Context, rj *rayv1.RayJob, soonest time.Duration, say func(explain.Snapshot) string) string {
	now := time.Now()
	age := now.Sub(rj.CreationTimestamp.Time)
	text, look := c.notices.due(rj.Name, now, min(max(age/4, soonest), lastNotice))
	if !look {
		return text
	}
	text = say(c.snapshot(ctx, rj))
	c.notices.set(rj.Name, text)
	return text
}

// snapshot collects the state of the cluster around the attempt. What cannot be read is left out, since it only explains.
func (c *Client) snapshot(ctx context.Context, rj *rayv1.RayJob) explain.Snapshot {
	s := explain.Snapshot{Job: rj, Now: time.Now()}
	if !c.synced.Load() {
		return s
	}
	s.Cluster = c.clusterOf(ctx, rj)
	pods, _ := c.pods.ByIndex(byAttempt, attemptOf(rj))
	for _, pod := range pods {
		s.Pods = append(s.Pods, pod.(*corev1.Pod))
	}
	if rj.Labels[explain.QueueLabel] != "" {
		all, _ := c.workloads.Get(ctx)
		s.Queue = explain.FindWorkload(all, rj.UID)
	}
	if s.Healthy() {
		return s
	}
	selectors := []fields.Selector{fields.OneTermEqualSelector("reason", "Evicted")} // KubeRay deletes evicted pods at once
	for _, name := range s.EventSources() {
		selectors = append(selectors, fields.OneTermEqualSelector("involvedObject.name", name))
	}
	for _, selector := range selectors {
		list, err := c.core.CoreV1().Events(c.cfg.Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector.String(), Limit: maxEvents})
		if err == nil {
			s.Events = append(s.Events, list.Items...)
		}
	}
	return s
}

const maxEvents = 50

// clusterOf returns the RayCluster of the job, or nil. A standing cluster is requested, since only our own objects are cached.
func (c *Client) clusterOf(ctx context.Context, rj *rayv1.RayJob) *rayv1.RayCluster {
	find := func() (*rayv1.RayCluster, error) { return c.clusters.Get(rj.Status.RayClusterName) }
	if name := explain.StandingCluster(rj); name != "" {
		find = func() (*rayv1.RayCluster, error) {
			return c.ray.RayV1().RayClusters(c.cfg.Namespace).Get(ctx, name, metav1.GetOptions{})
		}
	}
	cluster, err := find()
	if err != nil {
		return nil
	}
	return cluster
}
