package queue

import "github.com/prometheus/client_golang/prometheus"

// The label values of the metrics; each is known before it happens, so that its series begins at zero.
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

// Metrics counts what the broker sessions of a process do. One Metrics serves its consumer and its publisher.
type Metrics struct {
	connected    *prometheus.GaugeVec
	sessions     *prometheus.CounterVec
	troubles     *prometheus.CounterVec
	deliveries   *prometheus.CounterVec
	settled      *prometheus.CounterVec
	givenBack    prometheus.Counter
	failures     prometheus.Counter
	prefetch     prometheus.Gauge
	inHand       prometheus.Gauge
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
		sessions:   vector("sessions_total", "Sessions that were set up.", "connection"),
		troubles:   vector("session_troubles_total", "Sessions that ended, and connections that failed, for another reason than our stop.", "connection"),
		deliveries: vector("deliveries_total", "Deliveries handed to the handler.", "redelivered"),
		settled:    vector("settled_total", "Deliveries settled, by what became of them.", "outcome"),
		givenBack:  counter("given_back_total", "Deliveries given back before the handler saw them, for lack of free slots or because of our stop."),
		failures:   counter("handler_failures_total", "Deliveries whose handler returned an error."),
		prefetch:   gauge("prefetch", "Deliveries that the broker may send ahead; 0 while consuming is paused."),
		inHand:     gauge("in_hand", "Deliveries in the hands of the handler, not yet settled."),
		published:  vector("published_total", "Messages published, by what became of them.", "outcome"),
		confirmTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "confirm_seconds", Help: "Time from publishing a message to its confirm.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30},
		}),
		announced:    counter("announcements_total", "Announcements sent."),
		blocked:      gauge("blocked", "1 while the broker takes no messages because it is short of memory or disk: look after the broker."),
		blockedTimes: counter("blocked_total", "Times that the broker stopped taking messages."),
	}
	for _, name := range []string{connConsume, connPublish} {
		m.connected.WithLabelValues(name)
		m.sessions.WithLabelValues(name)
		m.troubles.WithLabelValues(name)
	}
	for _, again := range []string{"false", "true"} {
		m.deliveries.WithLabelValues(again)
	}
	for _, outcome := range []string{settledAck, settledRequeue, settledGone} {
		m.settled.WithLabelValues(outcome)
	}
	for _, outcome := range []string{publishedConfirmed, publishedUnroutable, publishedRefused, publishedUnknown} {
		m.published.WithLabelValues(outcome)
	}
	reg.MustRegister(m.connected, m.sessions, m.troubles, m.deliveries, m.settled, m.givenBack, m.failures, m.prefetch,
		m.inHand, m.published, m.confirmTime, m.announced, m.blocked, m.blockedTimes)
	return m
}
