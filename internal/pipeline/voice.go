package pipeline

import (
	"context"
	"errors"

	"github.com/ncsa/clowder-ray/internal/clowder/message"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// ClowderVoice tells users of Clowder through the reply queue that their message named.
type ClowderVoice struct {
	publisher  Publisher
	extractors platform.Extractors
	log        *zap.Logger
}

var _ Voice = (*ClowderVoice)(nil)

// NewClowderVoice returns a voice that speaks as the extractor to which a job was sent.
func NewClowderVoice(publisher Publisher, extractors platform.Extractors, log *zap.Logger) *ClowderVoice {
	return &ClowderVoice{publisher: publisher, extractors: extractors, log: log.Named("voice")}
}

// Tell publishes one status. Where the message named no reply queue, or the queue is gone, nobody reads statuses and there
// is nothing to wait for.
func (v *ClowderVoice) Tell(ctx context.Context, req job.Request, s message.Status) error {
	if req.ReplyTo == "" {
		return nil
	}
	err := v.publisher.Publish(ctx, queue.Message{
		RoutingKey: req.ReplyTo, CorrelationID: req.CorrelationID, Body: message.EncodeStatus(req, v.extractors.Of(req).Name(), s),
	})
	if errors.Is(err, queue.ErrUnroutable) {
		v.log.Warn("the reply queue is gone, status dropped", zap.String("job_id", req.JobID), zap.String("queue", req.ReplyTo))
		return nil
	}
	return err
}
