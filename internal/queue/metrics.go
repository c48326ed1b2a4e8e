package queue

import "github.com/prometheus/client_golang/prometheus"

// The label values of the metrics. All are registered at the start, so that each series begins at 0.
const (
	connConsume = "consume"
	connPublish = "publish"

	settledAck     = "ack"
	settledRequeue = "requeue"
	settledGone    = "session_gone"

	publishedConfirmed  = "confirmed"
	publishedUnroutable = "unroutable"
	publishedRefused    = "refused"
	publishedUnknown    = "unknown"
)

// Metrics holds the metrics of the broker sessions of a process. The consumer and the publisher share one Metrics.
type Metrics struct {
	connected    *prometheus.GaugeVec
	sessions     *prometheus.CounterVec
	errors       *prometheus.CounterVec
	deliveries   *prometheus.CounterVec
	settled      *prometheus.CounterVec
	returned     prometheus.Counter
	failures     prometheus.Counter
	prefetch     prometheus.Gauge
	unsettled    prometheus.Gauge
	published    *prometheus.CounterVec
	confirmTime  prometheus.Histogram
	announced    prometheus.Counter
	blocked      prometheus.Gauge
	blockedTimes prometheus.Counter
}

// NewMetrics registers the metrics on reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	const prefix = "clowder_ray_queue_"
	vector := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, []string{label})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	}
	m := &Metrics{
		connected: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "connected", Help: "1 while the connection has a working session.",
		}, []string{"connection"}),
		sessions:   vector("sessions_total", "Broker sessions that were established.", "connection"),
		errors:     vector("session_errors_total", "Broker sessions that were lost and connections that failed.", "connection"),
		deliveries: vector("deliveries_total", "Deliveries passed to the handler.", "redelivered"),
		settled:    vector("settled_total", "Deliveries settled, by outcome.", "outcome"),
		returned:   counter("deliveries_returned_total", "Deliveries put back into the queue before the handler saw them: no free slot, or the service was stopping."),
		failures:   counter("handler_failures_total", "Deliveries whose handler returned an error."),
		prefetch:   gauge("prefetch", "Unsettled deliveries that the broker may send; 0 while consuming is paused."),
		unsettled:  gauge("deliveries_unsettled", "Deliveries passed to the handler and not yet settled."),
		published:  vector("published_total", "Messages published, by outcome.", "outcome"),
		confirmTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "confirm_seconds", Help: "Seconds from publishing a message to its confirm.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30},
		}),
		announced:    counter("announcements_total", "Announcements sent."),
		blocked:      gauge("blocked", "1 while the broker blocks publishers because it is short of memory or disk."),
		blockedTimes: counter("blocked_total", "Times that the broker started to block publishers."),
	}
	for _, name := range []string{connConsume, connPublish} {
		m.connected.WithLabelValues(name)
		m.sessions.WithLabelValues(name)
		m.errors.WithLabelValues(name)
	}
	for _, redelivered := range []string{"false", "true"} {
		m.deliveries.WithLabelValues(redelivered)
	}
	for _, outcome := range []string{settledAck, settledRequeue, settledGone} {
		m.settled.WithLabelValues(outcome)
	}
	for _, outcome := range []string{publishedConfirmed, publishedUnroutable, publishedRefused, publishedUnknown} {
		m.published.WithLabelValues(outcome)
	}
	reg.MustRegister(m.connected, m.sessions, m.errors, m.deliveries, m.settled, m.returned, m.failures, m.prefetch,
		m.unsettled, m.published, m.confirmTime, m.announced, m.blocked, m.blockedTimes)
	return m
}
