package status

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// Broker hands a message to the message broker; a nil return means that the broker has it in a queue.
type Broker interface {
	Publish(ctx context.Context, m queue.Message) error
}

// ReplyQueue publishes statuses to the reply queue that the message of the job named.
type ReplyQueue struct {
	broker     Broker
	extractors platform.Extractors
	log        *zap.Logger
}

var _ Publisher = (*ReplyQueue)(nil)

// NewReplyQueue returns a publisher that sends each status under the name of the extractor that the job was submitted to.
func NewReplyQueue(broker Broker, extractors platform.Extractors, log *zap.Logger) *ReplyQueue {
	return &ReplyQueue{broker: broker, extractors: extractors, log: log.Named("status")}
}

// Publish sends one status. If the message named no reply queue, or the queue is gone, nobody reads statuses: the status is dropped
// without an error.
func (q *ReplyQueue) Publish(ctx context.Context, req job.Request, s message.Status) error {
	if req.ReplyTo == "" {
		return nil
	}
	for _, said := range s.InWordsOf(req) {
		err := q.broker.Publish(ctx, queue.Message{
			RoutingKey: req.ReplyTo, CorrelationID: req.CorrelationID, Body: message.EncodeStatus(req, q.extractors.Of(req).Name(), said),
		})
		if errors.Is(err, queue.ErrUnroutable) {
			q.log.Warn("reply queue is gone, status dropped", zap.String("job_id", req.JobID), zap.String("queue", req.ReplyTo))
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
