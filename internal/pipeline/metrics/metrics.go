// Package metrics counts what the pipeline does, for Prometheus. It knows the states of jobs and nothing else, and it never fails.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Metrics counts what the pipeline does. No label grows with the number of jobs.
type Metrics struct {
	messages *prometheus.CounterVec
	moves    *prometheus.CounterVec
	retries  *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	raySlots *prometheus.GaugeVec
	orphans  prometheus.Counter
}

// New registers the metrics on reg, each label at zero.
func New(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	const namespace, subsystem = "clowder_ray", "pipeline"
	m := &Metrics{
		messages: f.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "messages_total", Help: "Messages received, by outcome.",
		}, []string{"outcome"}),
		moves: f.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "jobs_total", Help: "Jobs that reached a state.",
		}, []string{"state"}),
		retries: f.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "retries_total", Help: "Stages that failed for a transient reason, by the state of the job.",
		}, []string{"state"}),
		seconds: f.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "stage_seconds", Help: "Duration of a stage in seconds, by the state of the job.",
			Buckets: prometheus.ExponentialBuckets(0.005, 4, 10),
		}, []string{"state"}),
		raySlots: f.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "ray_slots", Help: "Jobs that use a slot on Ray, and jobs that wait for one.",
		}, []string{"state"}),
		orphans: f.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "orphans_total", Help: "Trainings on Ray that were ended because no job record needed them.",
		}),
	}
	m.Slots(0, 0)
	for _, outcome := range []string{"accepted", "repeated", "skipped", "rejected"} {
		m.messages.WithLabelValues(outcome)
	}
	for _, s := range job.States() {
		m.moves.WithLabelValues(string(s))
		m.retries.WithLabelValues(string(s))
	}
	return m
}

// Received counts a message that is on disk as a job; created says that it made a new one.
func (m *Metrics) Received(created bool) {
	outcome := "repeated"
	if created {
		outcome = "accepted"
		m.moves.WithLabelValues(string(job.Accepted)).Inc()
	}
	m.messages.WithLabelValues(outcome).Inc()
}

// Slots says how many jobs use a slot on Ray and how many wait for one.
func (m *Metrics) Slots(used, waiting int) {
	m.raySlots.WithLabelValues("used").Set(float64(used))
	m.raySlots.WithLabelValues("waiting").Set(float64(waiting))
}

// Skipped counts a message that nobody has submitted.
func (m *Metrics) Skipped() { m.messages.WithLabelValues("skipped").Inc() }

// Rejected counts a message that can never become a job.
func (m *Metrics) Rejected() { m.messages.WithLabelValues("rejected").Inc() }

// Moved counts a job that has gone from one state to another; nothing is counted where the two are the same.
func (m *Metrics) Moved(from, to job.State) {
	if from != to {
		m.moves.WithLabelValues(string(to)).Inc()
	}
}

// Retried counts a stage that failed for a transient reason.
func (m *Metrics) Retried(in job.State) { m.retries.WithLabelValues(string(in)).Inc() }

// Stage notes how long a stage took.
func (m *Metrics) Stage(in job.State, d time.Duration) {
	m.seconds.WithLabelValues(string(in)).Observe(d.Seconds())
}

// Orphan counts a training that was ended because no record needed it.
func (m *Metrics) Orphan() { m.orphans.Inc() }
