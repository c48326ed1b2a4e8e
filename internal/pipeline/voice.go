package pipeline

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// ClowderVoice tells users of Clowder through the reply queue that their message named.
type ClowderVoice struct {
	publisher Publisher
	extractor string
	log       *zap.Logger
}

var _ Voice = (*ClowderVoice)(nil)

// NewClowderVoice returns a voice that speaks as the extractor of that name.
func NewClowderVoice(publisher Publisher, extractor string, log *zap.Logger) *ClowderVoice {
	return &ClowderVoice{publisher: publisher, extractor: extractor, log: log.Named("voice")}
}

// Tell publishes one status. Where the message named no reply queue, or the queue is gone, nobody reads statuses and there
// is nothing to wait for.
func (v *ClowderVoice) Tell(ctx context.Context, req job.Request, s clowder.Status) error {
	if req.ReplyTo == "" {
		return nil
	}
	err := v.publisher.Publish(ctx, queue.Message{
		RoutingKey: req.ReplyTo, CorrelationID: req.CorrelationID, Body: clowder.EncodeStatus(req, v.extractor, s),
	})
	if errors.Is(err, queue.ErrUnroutable) {
		v.log.Warn("the reply queue is gone, status dropped", zap.String("job_id", req.JobID), zap.String("queue", req.ReplyTo))
		return nil
	}
	return err
}
