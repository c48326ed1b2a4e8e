package explain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// eventTime returns when an event was last seen. Components fill in different fields.
func eventTime(e *corev1.Event) time.Time {
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

// latestEvent returns the newest event about the named object with one of the reasons, or nil. Pass the reasons of a failure
// together with the reasons of its success to learn whether the failure lasts.
func (s Snapshot) latestEvent(name string, reasons ...string) *corev1.Event {
	var newest *corev1.Event
	for i := range s.Events {
		e := &s.Events[i]
		if e.InvolvedObject.Name != name || !slices.Contains(reasons, e.Reason) {
			continue
		}
		if newest == nil || !eventTime(e).Before(eventTime(newest)) {
			newest = e
		}
	}
	return newest
}

// eventTTL is how long a repeated event counts. The kubelet repeats an event at least every two minutes while its cause
// lasts.
const eventTTL = 5 * time.Minute

// recentEvent is latestEvent for events that are repeated while their cause lasts.
func (s Snapshot) recentEvent(name string, reasons ...string) *corev1.Event {
	if e := s.latestEvent(name, reasons...); e != nil && s.Now.Sub(eventTime(e)) < eventTTL {
		return e
	}
	return nil
}
