package kuberay

import (
	"context"
	"sync"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// An explanation is looked for soon after a job began to wait, and ever more rarely the longer it waits: hundreds of jobs
// may wait for days. What runs is looked at for trouble only.
const (
	firstNotice  = 5 * time.Second
	firstTrouble = 30 * time.Second
	lastNotice   = 2 * time.Minute
)

// notices remembers what was said of each attempt and when it is to be looked for again.
type notices struct {
	mu    sync.Mutex
	texts map[string]notice
}

type notice struct {
	text string
	due  time.Time
}

// due says whether it is time to look again, and else what was said last. A caller who is told to look is the only one.
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

// notice is what explain says of the attempt now or said a short while ago.
func (c *Client) notice(ctx context.Context, rj *rayv1.RayJob, soonest time.Duration, explain func(scene) string) string {
	now := time.Now()
	age := now.Sub(rj.CreationTimestamp.Time)
	text, look := c.notices.due(rj.Name, now, min(max(age/4, soonest), lastNotice))
	if !look {
		return text
	}
	text = explain(c.scene(ctx, rj))
	c.notices.set(rj.Name, text)
	return text
}

// scene gathers what the cluster shows of the attempt. Whatever cannot be had is left out: it only explains.
func (c *Client) scene(ctx context.Context, rj *rayv1.RayJob) scene {
	s := scene{job: rj, now: time.Now()}
	if !c.synced.Load() {
		return s
	}
	s.cluster = c.clusterOf(ctx, rj)
	s.pods, _ = c.pods.List(labels.SelectorFromSet(labels.Set{labelRun: rj.Labels[labelRun], labelAttempt: rj.Labels[labelAttempt]}))
	if rj.Labels[queueLabel] != "" {
		all, _ := c.workloads.Get(ctx)
		s.queue = findWorkload(all, rj.UID)
	}
	if s.complete() && len(s.unready()) == 0 {
		return s // all is well: nobody needs the events
	}
	looks := []fields.Selector{fields.OneTermEqualSelector("reason", "Evicted")} // KubeRay deletes such pods at once
	for _, name := range s.eventful() {
		looks = append(looks, fields.OneTermEqualSelector("involvedObject.name", name))
	}
	for _, look := range looks {
		list, err := c.core.CoreV1().Events(c.cfg.Namespace).List(ctx, metav1.ListOptions{FieldSelector: look.String(), Limit: maxEvents})
		if err == nil {
			s.events = append(s.events, list.Items...)
		}
	}
	return s
}

const maxEvents = 50

// clusterOf is the RayCluster of the job, or nil. A standing one is asked for: only what is ours is copied.
func (c *Client) clusterOf(ctx context.Context, rj *rayv1.RayJob) *rayv1.RayCluster {
	find := func() (*rayv1.RayCluster, error) { return c.clusters.Get(rj.Status.RayClusterName) }
	if name := standingCluster(rj); name != "" {
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

// eventful names the objects whose events are worth a request: the job, its cluster, and the first pod that is not ready.
func (s scene) eventful() []string {
	names := []string{s.job.Name}
	if s.cluster != nil {
		names = append(names, s.cluster.Name)
	}
	if unready := s.unready(); len(unready) > 0 {
		names = append(names, unready[0].Name)
	}
	return names
}
