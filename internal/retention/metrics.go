package retention

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics shows what is kept and how much room is left.
type Metrics struct {
	free  *prometheus.GaugeVec
	cache prometheus.Gauge
}

// NewMetrics registers the metrics on reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		free: f.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "clowder_ray", Subsystem: "disk", Name: "free_bytes", Help: "Free bytes on the disk of a folder, by the name of its setting.",
		}, []string{"folder"}),
		cache: f.NewGauge(prometheus.GaugeOpts{
			Namespace: "clowder_ray", Subsystem: "cache", Name: "bytes", Help: "Size of the download cache in bytes after the last clean-up.",
		}),
	}
}
