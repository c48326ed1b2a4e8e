package kuberay

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// moment is when an event was last seen. Components fill the fields differently.
func moment(e *corev1.Event) time.Time {
	at := e.CreationTimestamp.Time
	for _, t := range []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time} {
		if t.After(at) {
			at = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	return at
}

// latest is the newest event about the object of this name for one of the reasons; nil where there is none. To ask for
// the reasons of a failure together with those of its mending tells whether it lasts.
func (s scene) latest(name string, reasons ...string) *corev1.Event {
	var newest *corev1.Event
	for i := range s.events {
		e := &s.events[i]
		if e.InvolvedObject.Name != name || !slices.Contains(reasons, e.Reason) {
			continue
		}
		if newest == nil || !moment(e).Before(moment(newest)) {
			newest = e
		}
	}
	return newest
}

// fresh is how long an event counts that is repeated while its cause lasts; the kubelet's longest pause is two minutes.
const fresh = 5 * time.Minute

// recent is latest for events that stop when their cause does.
func (s scene) recent(name string, reasons ...string) *corev1.Event {
	if e := s.latest(name, reasons...); e != nil && s.now.Sub(moment(e)) < fresh {
		return e
	}
	return nil
}
