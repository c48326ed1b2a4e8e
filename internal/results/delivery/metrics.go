package delivery

import (
	"github.com/ncsa/clowder-ray/internal/results"
)

// DeliveredMetrics is metrics.json as users get it: the scores, how far the confidence can be trusted, and what the training
// took, each worker by itself.
type DeliveredMetrics struct {
	results.Metrics
	Calibration *results.Calibration `json:"calibration,omitempty"`
	Training    results.Training     `json:"training" required:"false"`
}

func newDeliveredMetrics(r *results.Result) DeliveredMetrics {
	return DeliveredMetrics{Metrics: r.Metrics, Calibration: r.Calibration, Training: r.Training}
}
